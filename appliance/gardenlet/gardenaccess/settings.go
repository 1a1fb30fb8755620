// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// AnnotationRequest is an annotation of the bootstrap Secret in the seed: the name of the certificate signing
	// request that waits in the garden. Whoever watches the join can follow it there.
	AnnotationRequest = "gardenlet.terrarium.garden/certificate-signing-request"
	// AnnotationProblem is an annotation of the bootstrap Secret in the seed: what kept the gardenlet from the garden
	// the last time it tried.
	AnnotationProblem = "gardenlet.terrarium.garden/problem"

	csrPrefix = "seed-csr-"

	// issueTimeout is how long a certificate signing request may take; after that it counts as lost.
	issueTimeout = 15 * time.Minute
	// issuePoll is the time between two looks at a request. Bootstrap tokens may get it but not watch it.
	issuePoll = 500 * time.Millisecond
	// retryPause is the time between two tries to reach a garden that does not answer.
	retryPause = 2 * time.Second
	// refusalPatience is how long a garden may refuse good credentials: one that has just started answers before it knows
	// its tokens and roles.
	refusalPatience = 15 * time.Second
	// watchPause is the time between two looks at the kubeconfig Secret.
	watchPause = 10 * time.Second
)

// Settings say where the credentials are and whom they are for.
type Settings struct {
	// Seed is the name of the seed that this gardenlet serves.
	Seed string
	// Kubeconfig is the path of a kubeconfig of the garden that is used as it is. It is the last choice.
	Kubeconfig string
	// KubeconfigSecret is where the obtained credentials live in the seed. Rotation needs it.
	KubeconfigSecret *corev1.SecretReference
	// BootstrapKubeconfig is the Secret in the seed with a kubeconfig that may request a certificate.
	BootstrapKubeconfig *corev1.SecretReference
	// Address of the garden, if it is another one than the one in the bootstrap kubeconfig.
	Address string
	// Validity asks for certificates of that life time; nil leaves it to the garden.
	Validity *time.Duration
	// RotateFrom and RotateUntil bound the share of a certificate's life, in percent, after which it is replaced.
	RotateFrom, RotateUntil int32
	// QPS and Burst bound the requests to the garden.
	QPS   float32
	Burst int
	// UserAgent tells the garden who is calling.
	UserAgent string
}

// Surroundings are what the access works with; all fields are required.
type Surroundings struct {
	// Seed reads and writes Secrets of the seed. It must not be cached.
	Seed client.Client
	// Clock gives the time and the pauses.
	Clock clock.Clock
	// Random draws a number from [0, 1).
	Random func() float64
	// Alive is called whenever a wait is still worth it, so that nobody takes a patient process for a dead one.
	Alive func()
	// RotationFailed is called with the error and the end of the certificate's life when a rotation was given up for
	// now; the next one starts by itself.
	RotationFailed func(err error, expiry time.Time)
	// Log receives what is worth knowing.
	Log logr.Logger
}

// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

const (
	// AnnotationRequest is an annotation of the bootstrap Secret in the seed: the name of the pending certificate signing
	// request in the garden. Observers of the join can follow the request by it.
	AnnotationRequest = "gardenlet.terrarium.garden/certificate-signing-request"
	// AnnotationProblem is an annotation of the bootstrap Secret in the seed: why the last attempt to connect to the garden
	// failed.
	AnnotationProblem = "gardenlet.terrarium.garden/problem"

	// AnnotationBundle is an annotation of the lease of a seed: what identifies the CA bundle with which its gardenlet verifies the
	// garden.
	AnnotationBundle = "gardenlet.terrarium.garden/garden-ca"
	// AnnotationIssuer is an annotation of the lease of a seed: what identifies the authority that has signed the client certificate
	// of its gardenlet.
	AnnotationIssuer = "gardenlet.terrarium.garden/certificate-issuer"

	csrPrefix = "seed-csr-"

	// issueTimeout is the time after which an unanswered certificate signing request counts as lost.
	issueTimeout = 15 * time.Minute
	// issuePoll is the time between two reads of a request. Bootstrap tokens may get requests but not watch them.
	issuePoll = 500 * time.Millisecond
	// retryPause is the time between two attempts to reach a garden that does not answer.
	retryPause = 2 * time.Second
	// refusalPatience is how long refused requests are retried: a garden that has just started answers requests before it has
	// read its tokens and roles.
	refusalPatience = 15 * time.Second
	// watchPause is the time between two reads of the kubeconfig Secret.
	watchPause = 10 * time.Second
	// bundlePause is the time between two looks at the CA that the garden publishes.
	bundlePause = 10 * time.Minute
)

// Settings say where the credentials are and for which seed.
type Settings struct {
	// Seed is the name of the seed that this gardenlet serves.
	Seed string
	// Kubeconfig is the path of a kubeconfig of the garden, which is used unchanged and only if there are no other credentials.
	Kubeconfig string
	// KubeconfigSecret is the Secret in the seed for the obtained credentials. Rotation requires it.
	KubeconfigSecret *corev1.SecretReference
	// BootstrapKubeconfig is the Secret in the seed with a kubeconfig that may request a certificate.
	BootstrapKubeconfig *corev1.SecretReference
	// Address of the garden, if it is another one than the one in the bootstrap kubeconfig.
	Address string
	// Validity is the requested lifetime of certificates; if nil, the garden decides.
	Validity *time.Duration
	// RotateFrom and RotateUntil are the bounds of the share of a certificate's lifetime, in percent, after which it is replaced.
	RotateFrom, RotateUntil int32
	// Connection limits the requests to the garden, and says their formats. Its kubeconfig does not count.
	Connection gardenconfigv1alpha1.ClientConnectionConfiguration
	// UserAgent is the user agent of requests to the garden.
	UserAgent string
}

// Surroundings are the dependencies of an Access. All fields are required.
type Surroundings struct {
	// Seed reads and writes Secrets of the seed. It must not be cached.
	Seed client.Client
	// Clock gives the time and makes the pauses.
	Clock clock.Clock
	// Random returns a number from [0, 1).
	Random func() float64
	// Alive is called while a wait continues, so that liveness probes do not fail.
	Alive func()
	// RotationFailed is called with the error and the expiry time of the certificate when a rotation has failed. The next
	// attempt follows without a call.
	RotationFailed func(err error, expiry time.Time)
	// Log is the log of the process.
	Log logr.Logger
}

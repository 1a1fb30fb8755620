// SPDX-License-Identifier: Apache-2.0

package join

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Observation is the state of a join at one time. What does not exist is nil or empty.
type Observation struct {
	// Deployment and Pods belong to the gardenlet.
	Deployment *appsv1.Deployment
	Pods       []corev1.Pod
	// Warnings are the messages of warning events about these pods, the newest last.
	Warnings []string
	// Invited says that the bootstrap Secret exists.
	Invited bool
	// Problem is why the gardenlet's last attempt to connect to the garden failed.
	Problem string
	// Request is the gardenlet's certificate signing request.
	Request *certificatesv1.CertificateSigningRequest
	// RequestName is its name, which may be known when the request is not.
	RequestName string
	// Stored says that the gardenlet has stored its credentials.
	Stored bool
	// Unread is why Seed or Installations could not be read from the garden.
	Unread error
	// Seed is the Seed in the garden.
	Seed *gardencorev1beta1.Seed
	// Identity is the identity of the cluster.
	Identity string
	// Installations are the extensions that the garden installs in the seed.
	Installations []gardencorev1beta1.ControllerInstallation
}

// Report is the progress that follows from an observation.
type Report struct {
	// Done are the completed steps, in order.
	Done []string
	// Waiting is what the join currently waits for.
	Waiting string
	// Connected says that the Seed is registered, so the gardenlet must not be removed.
	Connected bool
	// Ready says that the join is complete.
	Ready bool
	// Stuck is an error that may disappear soon; if it does not, the join fails.
	Stuck error
	// Failed is a permanent error.
	Failed error
}

// Judge returns the report for an observation, independent of earlier ones.
func Judge(o Observation) Report {
	r := &Report{}
	r.credentials(o)
	if r.Failed == nil && r.Waiting == "" {
		r.seed(o)
	}
	if r.Failed == nil && !r.Ready {
		r.pods(o)
	}
	return *r
}

func (r *Report) done(format string, args ...any) {
	r.Done = append(r.Done, fmt.Sprintf(format, args...))
}

// credentials reports the progress from the invitation to the certificate.
func (r *Report) credentials(o Observation) {
	if o.Stored {
		r.done("Certificate issued and stored in the seed")
		return
	}
	if o.RequestName == "" {
		r.Waiting = "the gardenlet to request a certificate"
		if o.Problem != "" {
			r.Waiting = "the gardenlet, which says: " + o.Problem
		}
		return
	}
	r.done("Certificate requested: %s", o.RequestName)
	r.Waiting = "the garden to approve the request " + o.RequestName
	if o.Request == nil {
		return
	}
	for _, condition := range o.Request.Status.Conditions {
		switch condition.Type {
		case certificatesv1.CertificateApproved:
			r.done("Request approved")
			r.Waiting = "the garden to sign the certificate"
		case certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
			r.Failed = fmt.Errorf("the garden has denied the request %q: %s: %s", o.RequestName, condition.Reason, condition.Message)
		}
	}
}

// seed reports the progress of the Seed in the garden.
func (r *Report) seed(o Observation) {
	if o.Seed == nil {
		r.Waiting = "the gardenlet to register the seed"
		if o.Unread != nil {
			r.Waiting = "the garden to answer with the credentials of the gardenlet: " + o.Unread.Error()
		}
		return
	}
	if owner := o.Seed.Status.ClusterIdentity; owner != nil && o.Identity != "" && *owner != o.Identity {
		r.Waiting = "the gardenlet to register the seed, whose name another cluster has"
		return
	}
	r.Connected = true
	r.done("Seed registered: %s", o.Seed.Name)
	last := o.Seed.Status.LastOperation
	switch {
	case last == nil:
		r.Waiting = "the gardenlet to prepare the seed"
		return
	case last.State != gardencorev1beta1.LastOperationStateSucceeded:
		r.Waiting = fmt.Sprintf("the gardenlet to prepare the seed: %d %%, %s", last.Progress, last.Description)
		return
	}
	r.done("Seed prepared")
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy,
	} {
		if !r.condition(o.Seed, kind) {
			return
		}
	}
	if o.Unread != nil {
		r.Waiting = "the garden to answer with the credentials of the gardenlet: " + o.Unread.Error()
		return
	}
	if r.extensions(o.Installations) && r.optional(o.Seed, gardencorev1beta1.ConditionTypeExtensionsReady) {
		r.Ready = r.settled(o)
	}
}

// settled reports whether the observed state comes from the gardenlet that was just deployed, and not from an earlier one.
func (r *Report) settled(o Observation) bool {
	if o.Invited {
		r.Waiting = "the gardenlet to take up the invitation"
		if o.Problem != "" {
			r.Waiting += ", which says: " + o.Problem
		}
		return false
	}
	if o.Deployment == nil {
		return true
	}
	ready, reason := deploy.Ready(o.Deployment)
	if !ready {
		r.Waiting = "the Deployment of the gardenlet: " + reason
	}
	return ready
}

func (r *Report) condition(seed *gardencorev1beta1.Seed, kind gardencorev1beta1.ConditionType) bool {
	found := query.FindCondition(seed.Status.Conditions, kind)
	if found == nil {
		r.Waiting = fmt.Sprintf("condition %s", kind)
		return false
	}
	if found.Status != gardencorev1beta1.ConditionTrue {
		r.Waiting = fmt.Sprintf("condition %s, which is %s: %s", kind, found.Status, found.Message)
		return false
	}
	r.done("%s", kind)
	return true
}

// optional waits for a condition only if it is set.
func (r *Report) optional(seed *gardencorev1beta1.Seed, kind gardencorev1beta1.ConditionType) bool {
	return query.FindCondition(seed.Status.Conditions, kind) == nil || r.condition(seed, kind)
}

func (r *Report) extensions(all []gardencorev1beta1.ControllerInstallation) bool {
	var pending []string
	for _, installation := range all {
		if !kit.ConditionIs(installation.Status.Conditions, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue) ||
			!kit.ConditionIs(installation.Status.Conditions, gardencorev1beta1.ConditionTypeHealthy, gardencorev1beta1.ConditionTrue) {
			pending = append(pending, installation.Spec.RegistrationRef.Name+explain(installation))
			continue
		}
		r.done("Extension installed: %s", installation.Spec.RegistrationRef.Name)
	}
	if len(pending) > 0 {
		r.Waiting = "extensions: " + strings.Join(pending, "; ")
	}
	return len(pending) == 0
}

// explain returns the first condition of an extension that is not met.
func explain(installation gardencorev1beta1.ControllerInstallation) string {
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTypeHealthy,
	} {
		found := query.FindCondition(installation.Status.Conditions, kind)
		if found != nil && found.Status != gardencorev1beta1.ConditionTrue {
			return fmt.Sprintf(" (%s is %s: %s)", kind, found.Status, found.Message)
		}
	}
	return ""
}

// pods reports why the gardenlet does not run.
func (r *Report) pods(o Observation) {
	if o.Deployment == nil {
		return
	}
	for _, condition := range o.Deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue {
			r.Stuck = errors.New("the pod of the gardenlet cannot be created: " + condition.Message)
			r.Waiting = r.Stuck.Error()
		}
	}
	if len(o.Warnings) > 0 && !o.Stored && o.RequestName == "" && o.Problem == "" {
		r.Waiting = "the pod of the gardenlet; last warning of the cluster: " + o.Warnings[len(o.Warnings)-1]
	}
	for i := range o.Pods {
		r.pod(&o.Pods[i])
	}
}

func (r *Report) pod(pod *corev1.Pod) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			r.Waiting = "a node for the pod of the gardenlet: " + condition.Message
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if waiting := status.State.Waiting; waiting != nil && imageTrouble(waiting.Reason) {
			r.Stuck = fmt.Errorf("the cluster does not have the image %s and cannot get it: %s", status.Image, waiting.Message)
			r.Waiting = r.Stuck.Error()
		}
		for _, ended := range []*corev1.ContainerStateTerminated{status.State.Terminated, status.LastTerminationState.Terminated} {
			if message := lastWords(ended); message != "" && !r.Connected {
				r.Failed = errors.New("the gardenlet has ended: " + message)
			}
		}
	}
}

func imageTrouble(reason string) bool {
	switch reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError":
		return true
	default:
		return false
	}
}

// lastWords returns the termination message of a container that ended with an error. It returns nothing for a container that was
// stopped or killed.
func lastWords(ended *corev1.ContainerStateTerminated) string {
	if ended == nil || ended.ExitCode == 0 || ended.ExitCode > 128 {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(ended.Message), "\n")
	for i, line := range lines {
		if text, ok := strings.CutPrefix(line, "Error: "); ok {
			return strings.TrimSpace(strings.Join(append([]string{text}, lines[i+1:]...), "\n"))
		}
	}
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return fmt.Sprintf("exit status %d, without a message", ended.ExitCode)
}

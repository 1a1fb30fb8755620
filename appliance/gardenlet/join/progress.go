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

// Observation is everything that can be seen of a join at one moment. What is not there is nil or empty.
type Observation struct {
	// Deployment and Pods are those of the gardenlet.
	Deployment *appsv1.Deployment
	Pods       []corev1.Pod
	// Warnings are what the cluster has to say against those pods, the newest last.
	Warnings []string
	// Invited says that the bootstrap Secret is there.
	Invited bool
	// Problem is what kept the gardenlet from the garden the last time it tried.
	Problem string
	// Request is the gardenlet's certificate signing request.
	Request *certificatesv1.CertificateSigningRequest
	// RequestName is its name, which is known although the request may not be.
	RequestName string
	// Stored says that the gardenlet has its own credentials.
	Stored bool
	// Seed is the Seed in the garden.
	Seed *gardencorev1beta1.Seed
	// Identity is that of the cluster.
	Identity string
	// Installations are the extensions that the garden wants in the seed.
	Installations []gardencorev1beta1.ControllerInstallation
}

// Report is what an observation means.
type Report struct {
	// Done are the steps that are behind us, in their order.
	Done []string
	// Waiting is what the join waits for right now.
	Waiting string
	// Connected says that the Seed is registered, so that the gardenlet and what it made have to stay.
	Connected bool
	// Ready says that there is nothing left to wait for.
	Ready bool
	// Stuck is an error that a little waiting may end, but not a long one.
	Stuck error
	// Failed is an error that no waiting ends.
	Failed error
}

// Judge makes a report of an observation. It knows no history: what was observed decides.
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

// credentials reports the way from the invitation to the certificate.
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
			r.Failed = fmt.Errorf("the garden has refused the request %q: %s: %s", o.RequestName, condition.Reason, condition.Message)
		}
	}
}

// seed reports what the garden knows of the seed.
func (r *Report) seed(o Observation) {
	if o.Seed == nil {
		r.Waiting = "the gardenlet to register the seed"
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
	if r.extensions(o.Installations) && r.optional(o.Seed, gardencorev1beta1.ConditionTypeExtensionsReady) {
		r.Ready = r.settled(o)
	}
}

// settled tells whether all of this is the work of the gardenlet that was just deployed, and not of one before it.
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

// optional waits for a condition only if somebody sets it.
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

// explain is the first bad news about an extension.
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

// pods reports what keeps the gardenlet itself from running.
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
		r.Waiting = "the pod of the gardenlet, of which the cluster says: " + o.Warnings[len(o.Warnings)-1]
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

// lastWords is what a container said that ended with an error of its own. One that was told to end, or was killed, has
// nothing to say about the join.
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
	return fmt.Sprintf("exit status %d, and nothing was said about it", ended.ExitCode)
}

// SPDX-License-Identifier: Apache-2.0

package join

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
)

// annotationInvitation is an annotation of pods: the checksum of the invitation with which the gardenlet was started.
const annotationInvitation = "checksum/bootstrap"

// observer reads the progress of a join from the seed and, with the credentials of the gardenlet, from the garden.
type observer struct {
	cluster    *cluster
	garden     *garden
	config     map[string]any
	identity   string
	deployment bool

	// request is the name of the request, kept because the annotation with it is deleted together with the bootstrap Secret.
	request string
}

// observe reads everything that it can. What cannot be read now is left out, and read again the next time.
func (v *observer) observe(ctx context.Context) (Observation, error) {
	o := Observation{Identity: v.identity}
	if err := v.invitation(ctx, &o); err != nil {
		return o, err
	}
	if v.deployment {
		if err := v.workload(ctx, &o); err != nil {
			return o, err
		}
	}
	if o.Stored {
		o.Unread = v.registration(ctx, &o)
	}
	return o, nil
}

// invitation reads the Secrets of the gardenlet and its request.
func (v *observer) invitation(ctx context.Context, o *Observation) error {
	bootstrap, err := v.secret(ctx, "bootstrapKubeconfig")
	if err != nil {
		return err
	}
	if bootstrap != nil {
		o.Invited = true
		o.Problem = bootstrap.Annotations[gardenaccess.AnnotationProblem]
		if name := bootstrap.Annotations[gardenaccess.AnnotationRequest]; name != "" {
			v.request = name
		}
	}
	stored, err := v.secret(ctx, "kubeconfigSecret")
	if err != nil {
		return err
	}
	o.Stored = stored != nil && len(stored.Data[gardencorev1beta1.DataKeyKubeconfig]) > 0
	o.RequestName = v.request
	if v.request == "" || o.Stored {
		return nil
	}
	// The token may be deleted already; then the certificate follows soon.
	request, err := v.garden.clients.CertificatesV1().CertificateSigningRequests().Get(ctx, v.request, metav1.GetOptions{})
	if err == nil {
		o.Request = request
	}
	return nil
}

func (v *observer) secret(ctx context.Context, field string) (*corev1.Secret, error) {
	namespace, name := reference(v.config, field)
	secret := &corev1.Secret{}
	err := v.cluster.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	if err != nil {
		return nil, fmt.Errorf("get Secret %q of the cluster: %w", namespace+"/"+name, err)
	}
	return secret, nil
}

// workload reads the Deployment and the pods of the gardenlet, without the pods of an earlier join.
func (v *observer) workload(ctx context.Context, o *Observation) error {
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: deploymentName}
	if err := v.cluster.client.Get(ctx, key, deployment); err != nil {
		return fmt.Errorf("get Deployment %q of the cluster: %w", key, err)
	}
	o.Deployment = deployment
	pods := &corev1.PodList{}
	if err := v.cluster.client.List(ctx, pods, client.InNamespace(key.Namespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels)); err != nil {
		return fmt.Errorf("list pods of the gardenlet: %w", err)
	}
	for _, pod := range pods.Items {
		if pod.Annotations[annotationInvitation] == deployment.Spec.Template.Annotations[annotationInvitation] {
			o.Pods = append(o.Pods, pod)
			o.Warnings = append(o.Warnings, v.warnings(ctx, &pod)...)
		}
	}
	return nil
}

// warnings returns the messages of warning events about a pod. Errors are ignored, because events only explain.
func (v *observer) warnings(ctx context.Context, pod *corev1.Pod) []string {
	events := &corev1.EventList{}
	selector := fields.Set{"involvedObject.name": pod.Name, "type": corev1.EventTypeWarning}.AsSelector()
	if err := v.cluster.client.List(ctx, events, client.InNamespace(pod.Namespace), client.MatchingFieldsSelector{Selector: selector}); err != nil {
		return nil
	}
	slices.SortFunc(events.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	var warnings []string
	for _, event := range events.Items {
		warnings = append(warnings, event.Reason+": "+event.Message)
	}
	return warnings
}

// registration reads the Seed with the credentials of the gardenlet. Its errors do not end the join: either they are temporary, or the
// gardenlet gets and reports them too.
func (v *observer) registration(ctx context.Context, o *Observation) error {
	gardenClient, err := v.gardenClient(ctx)
	if err != nil {
		return err
	}
	seed := &gardencorev1beta1.Seed{}
	err = gardenClient.Get(ctx, client.ObjectKey{Name: seedName(v.config)}, seed)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get seed %q: %w", seedName(v.config), err)
	}
	o.Seed = seed
	installations := &gardencorev1beta1.ControllerInstallationList{}
	selector := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.seedRef.name", seed.Name)}
	if err := gardenClient.List(ctx, installations, selector); err != nil {
		return fmt.Errorf("list extensions of seed %q: %w", seed.Name, err)
	}
	o.Installations = installations.Items
	return nil
}

// gardenClient returns a client of the garden with the credentials of the gardenlet.
func (v *observer) gardenClient(ctx context.Context) (client.Client, error) {
	stored, err := v.secret(ctx, "kubeconfigSecret")
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, errors.New("the gardenlet has no credentials for the garden")
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(stored.Data[gardencorev1beta1.DataKeyKubeconfig])
	if err != nil {
		return nil, fmt.Errorf("read the gardenlet's kubeconfig of the garden: %w", err)
	}
	config.UserAgent = v.cluster.config.UserAgent
	c, err := client.New(config, client.Options{Scheme: v.cluster.scheme})
	if err != nil {
		return nil, fmt.Errorf("build client of the garden: %w", err)
	}
	return c, nil
}

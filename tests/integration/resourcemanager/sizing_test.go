// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/component/verticalpodautoscaler"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// sizes is an object that says how pods are to be sized.
func sizes(name, mode string) client.Object {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"targetRef":    map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
		"updatePolicy": map[string]any{"updateMode": mode},
	}}}
	object.SetGroupVersionKind(vertical.Kind())
	object.SetNamespace(metav1.NamespaceDefault)
	object.SetName(name)
	return object
}

// TestWhatSizesPodsIsAccepted delivers what the autoscaler of pods has in its shoot: an API server accepts the kinds, the rights and the
// webhook, while nobody answers the webhook objects can be written all the same, and nothing is left when the shoot does not ask for it any more.
func TestWhatSizesPodsIsAccepted(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(*resourcemanager.Options) {})
	f := facts.Shoot{Namespace: home, Shoot: &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}
	f.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	f.Shoot.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
	in := &component.Inputs{Secrets: map[string]component.Secret{"ca": {}}}
	var objects []client.Object
	for _, c := range []component.Component[facts.Shoot]{verticalpodautoscaler.InsideComponent(), verticalpodautoscaler.WebhookComponent()} {
		rendered, err := c.Render(f, in)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, rendered...)
	}
	mr := s.deliver("sizes", "seed", s.written(objects))
	hook := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "vpa-webhook-config-shoot"}}
	harness.Eventually(t, "the webhook is there", func(ctx context.Context) error { return s.Get(ctx, client.ObjectKeyFromObject(hook), hook) })
	harness.Eventually(t, "the kind is served", func(ctx context.Context) error { return s.Create(ctx, sizes("a", "InPlaceOrRecreate")) })
	if err := s.Create(t.Context(), sizes("b", "Sideways")); !apierrors.IsInvalid(err) {
		t.Errorf("an unknown mode: got %v, want that it is invalid", err)
	}
	want, got := map[string]bool{}, map[string]bool{}
	for _, tc := range []struct {
		who, verb, group, resource, subresource string
		want                                    bool
	}{
		{"vpa-recommender", "patch", "autoscaling.k8s.io", "verticalpodautoscalers", "status", true},
		{"vpa-recommender", "create", "autoscaling.k8s.io", "verticalpodautoscalercheckpoints", "", true},
		{"vpa-recommender", "list", "metrics.k8s.io", "pods", "", true},
		{"vpa-recommender", "create", "", "pods", "eviction", false},
		{"vpa-updater", "create", "", "pods", "eviction", true},
		{"vpa-updater", "get", "example.org", "anythings", "scale", true},
		{"vpa-updater", "delete", "", "pods", "", false},
		{"vpa-admission-controller", "list", "autoscaling.k8s.io", "verticalpodautoscalers", "", true},
		{"vpa-admission-controller", "patch", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", "", false},
		{"vpa-admission-controller", "list", "", "secrets", "", false},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:kube-system:" + tc.who,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: metav1.NamespaceDefault, Verb: tc.verb, Group: tc.group, Resource: tc.resource, Subresource: tc.subresource,
			},
		}}
		if err := s.Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%s %s %s/%s", tc.who, tc.verb, tc.resource, tc.subresource)
		want[what], got[what] = tc.want, review.Status.Allowed
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who may do what (-want +got):\n%s", diff)
	}

	if err := s.Delete(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	s.gone(mr)
	for _, object := range []client.Object{hook, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "verticalpodautoscalers.autoscaling.k8s.io"}}} {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("%T %q after its end: got %v, want that it is gone", object, object.GetName(), err)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// TestBindingThatCannotBeReplaced_GCM_MAINT_12_13 raises a shoot to a version that has no SecretBindings. Its owner has to know why nothing
// is done, and is not asked again before the next window.
func TestBindingThatCannotBeReplaced_GCM_MAINT_12_13(t *testing.T) {
	t.Parallel()
	in := metav1.ObjectMeta{Namespace: "garden-dev", Name: "account"}
	former := &gardencorev1beta1.SecretBinding{ObjectMeta: in, SecretRef: corev1.SecretReference{Namespace: "garden-dev", Name: "account"}}
	other := &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: in, CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden-dev", Name: "another"}}
	for name, tc := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"gone":  {nil, `SecretBinding "account" does not exist`},
		"taken": {[]client.Object{former, other}, `CredentialsBinding "account" is for other credentials`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, offers("1.33.1:expired 1.34.0", "1.0.0"), shoot(always, annotated(operation, "maintain"), func(s *gardencorev1beta1.Shoot) {
				s.Spec.SecretBindingName = new("account")
			}))
			recorder := events.NewFakeRecorder(10)
			g.Recorder = recorder
			for _, o := range tc.objects {
				if err := g.Client.Create(t.Context(), o.DeepCopyObject().(client.Object)); err != nil {
					t.Fatal(err)
				}
			}
			before := g.shoot(t)
			if _, err := g.Reconcile(t.Context(), g.shoot(t)); err != nil {
				t.Fatal(err)
			}
			after := g.shoot(t)
			if diff := cmp.Diff(before.Spec, after.Spec); diff != "" || after.Annotations[operation] != "" {
				t.Errorf("operation %q, the spec (-before +after):\n%s", after.Annotations[operation], diff)
			}
			if last := after.Status.LastMaintenance; last == nil || last.State != "Failed" || last.FailureReason == nil || !strings.Contains(*last.FailureReason, tc.want) {
				t.Errorf("status %+v, want a failure with %q", last, tc.want)
			}
			if got := <-recorder.Events; !strings.HasPrefix(got, "Warning MaintenanceFailed ") || !strings.Contains(got, tc.want) {
				t.Errorf("event %q, want a warning with %q", got, tc.want)
			}
		})
	}
}

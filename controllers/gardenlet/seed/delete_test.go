// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestDeletionSeesTheLastShoot_GLET_SEED_12 deletes a seed just after a shoot or an extension came to it, of which the cache does not know yet. Without
// the resource manager and the definitions of the seed nobody could delete them any more.
func TestDeletionSeesTheLastShoot_GLET_SEED_12(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden-dev", Name: "late", Labels: map[string]string{"name.seed.gardener.cloud/one": "true"},
	}}
	shoot.Spec.SeedName = new("one")
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "late"}}
	installation.Spec.SeedRef = &corev1.ObjectReference{Name: "one"}
	for want, late := range map[string]client.Object{
		"Shoots still use the seed: garden-dev/late": shoot, "Extensions are still installed: late": installation,
	} {
		object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{
			Name: "one", Finalizers: []string{"gardener"}, DeletionTimestamp: new(metav1.NewTime(time.Unix(900, 0))),
		}}
		cached := fake.NewClientBuilder().WithScheme(types).WithObjects(object).WithStatusSubresource(object).Build()
		live := fake.NewClientBuilder().WithScheme(types).WithObjects(object, late).
			WithIndex(&gardencorev1beta1.ControllerInstallation{}, "spec.seedRef.name", func(o client.Object) []string {
				i, _ := o.(*gardencorev1beta1.ControllerInstallation)
				return []string{i.Spec.SeedRef.Name}
			}).Build()
		r := &seed.Reconciler{
			SeedBase: kit.SeedBase{
				GardenClient: cached, GardenReader: live, SeedClient: fake.NewClientBuilder().WithScheme(types).Build(),
				Clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), Recorder: events.NewFakeRecorder(10), SeedName: "one",
			},
			Config: &gardenconfigv1alpha1.SeedControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: time.Minute}},
		}
		result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}})
		if err != nil || result.RequeueAfter == 0 {
			t.Errorf("%s: Reconcile(...) = %+v, %v, want to come back", want, result, err)
		}
		if err := cached.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
			t.Errorf("%s: the seed is gone: %v", want, err)
			continue
		}
		last := object.Status.LastOperation
		if !slices.Contains(object.Finalizers, "gardener") || last == nil || !strings.Contains(last.Description, want) {
			t.Errorf("finalizers %v, last operation %+v, want it to say %q", object.Finalizers, last, want)
		}
	}
}

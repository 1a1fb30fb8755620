// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

type seedSet = gardenseedmanagementv1alpha1.ManagedSeedSet

// beds is a set whose templates can be followed in a garden with the provider local.
func beds(name string, replicas int32) *seedSet {
	s := bed("garden", name)
	s.Spec.Replicas = &replicas
	s.Spec.ShootTemplate.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("replica-name.example.com")}
	s.Spec.ShootTemplate.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
	s.Spec.Template.Spec.Gardenlet.Config = runtime.RawExtension{Raw: []byte(`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration",` +
		`"seedConfig":{"metadata":{"labels":{"set":"` + name + `"}},"spec":{"ingress":{"domain":"ingress.replica-name.example.com","controller":{"kind":"nginx"}},"dns":{` +
		`"provider":{"type":"local","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"local"}},` +
		`"internal":{"type":"local","domain":"internal.example.org","credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"local"}}}}}}`)}
	return s
}

// reconciled reports the end of a shoot's operation, as its gardenlet does.
func (o *operator) reconciled(shoot *gardencorev1beta1.Shoot, is gardencorev1beta1.LastOperationState) {
	o.t.Helper()
	o.changeStatus(shoot, func() {
		shoot.Status.ObservedGeneration = shoot.Generation
		shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: is, Progress: 50, LastUpdateTime: metav1.Now()}
	})
}

// becomesSeed does what gardenlets do for a new ManagedSeed.
func (o *operator) becomesSeed(name string) {
	o.t.Helper()
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", name)}
	harness.Await(o.t, o.Client, managed, "ManagedSeed "+name+" appears", func(m *gardenseedmanagementv1alpha1.ManagedSeed) error {
		return has(m.Spec.Shoot.Name == name, "it is of shoot %q", m.Spec.Shoot.Name)
	})
	seed := o.seed(name, "local", "north")
	// The shoot shows the conditions of its seed, and is not healthy without extensions.
	o.ready(o.installation(name, "provider-local", "the new seed has its extension"))
	o.changeStatus(seed, func() {
		seed.Status.ObservedGeneration = seed.Generation
		seed.Status.Conditions = append(seed.Status.Conditions, gardencorev1beta1.Condition{
			Type: "SeedSystemComponentsHealthy", Status: "True", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
	})
	o.changeStatus(managed, func() {
		managed.Status.ObservedGeneration = managed.Generation
		managed.Status.Conditions = []gardencorev1beta1.Condition{{Type: "SeedRegistered", Status: "True", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now()}}
	})
}

// atRest waits until the set has that many replicas, all of them ready.
func (o *operator) atRest(s *seedSet, replicas int32, what string) {
	o.t.Helper()
	harness.Await(o.t, o.Client, s, what, func(s *seedSet) error {
		want := gardenseedmanagementv1alpha1.ManagedSeedSetStatus{ObservedGeneration: s.Generation, Replicas: replicas, ReadyReplicas: replicas}
		got := gardenseedmanagementv1alpha1.ManagedSeedSetStatus{
			ObservedGeneration: s.Status.ObservedGeneration, Replicas: s.Status.Replicas, ReadyReplicas: s.Status.ReadyReplicas, PendingReplica: s.Status.PendingReplica,
		}
		diff := cmp.Diff(want, got)
		return has(diff == "", "status (-want +got):\n%s", diff)
	})
}

// pends says that a replica is pending, which it is since some time.
func pends(s *seedSet, want gardenseedmanagementv1alpha1.PendingReplica) error {
	diff := cmp.Diff(&want, s.Status.PendingReplica, cmpopts.IgnoreFields(want, "Since"))
	return has(diff == "", "pending replica (-want +got):\n%s", diff)
}

func (o *operator) scale(s *seedSet, replicas int) {
	o.t.Helper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	if err := o.Client.SubResource("scale").Patch(o.t.Context(), s, patch, &client.SubResourcePatchOptions{SubResourceBody: &autoscalingv1.Scale{}}); err != nil {
		o.t.Fatalf("scale %q: %v", s.Name, err)
	}
}

// TestManagedSeedSets lets a set grow and shrink, with the test in the place of gardenlets.
func TestManagedSeedSets(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	o.home()
	o.credentials("garden", "local")
	s := beds("a", 1)
	o.create(s)

	first, second := &gardencorev1beta1.Shoot{ObjectMeta: named("garden", "a-0")}, &gardencorev1beta1.Shoot{ObjectMeta: named("garden", "a-1")}
	first = harness.Await(t, o.Client, first, "GCM-MSS-9: the first shoot is made of the template", func(shoot *gardencorev1beta1.Shoot) error {
		return has(metav1.IsControlledBy(shoot, s) && shoot.Labels["set"] == "a" && *shoot.Spec.DNS.Domain == "a-0.example.com", "labels %v, DNS %v, owners %v", shoot.Labels, shoot.Spec.DNS, shoot.OwnerReferences)
	})
	held(o, s, "gardener", "GCM-MSS-1: the set is held")
	o.event(s, "CreatingShoot", "GCM-MSS-12: the step is told")
	harness.Await(t, o.Client, s, "GCM-MSS-6: the replica is pending", func(s *seedSet) error {
		return errors.Join(pends(s, gardenseedmanagementv1alpha1.PendingReplica{Name: "a-0", Reason: "ShootReconciling"}), has(s.Status.NextReplicaNumber == 1, "status %+v", s.Status))
	})
	o.reconciled(first, "Succeeded")
	o.becomesSeed("a-0")
	o.atRest(s, 1, "GCM-MSS-4: a registered and ready seed on a healthy shoot is a ready replica")

	// The shoot does not show this of its seed, and nothing else changes.
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "a-0"}}
	o.changeStatus(seed, func() { seed.Status.ObservedGeneration = seed.Generation - 1 })
	harness.Await(t, o.Client, s, "GCM-MSS-1: the set learns of its seed", func(s *seedSet) error {
		return pends(s, gardenseedmanagementv1alpha1.PendingReplica{Name: "a-0", Reason: "SeedNotReady"})
	})
	o.changeStatus(seed, func() { seed.Status.ObservedGeneration = seed.Generation })
	o.atRest(s, 1, "GCM-MSS-1: and when it is ready again")

	o.scale(s, 2)
	second = harness.Await(t, o.Client, second, "GCM-MSS-9: a second shoot follows the scale", func(*gardencorev1beta1.Shoot) error { return nil })
	o.reconciled(second, "Failed")
	harness.Await(t, o.Client, second, "GCM-MSS-8: a failed shoot is retried", func(shoot *gardencorev1beta1.Shoot) error {
		return has(shoot.Generation == second.Generation+1, "generation %d, annotations %v", shoot.Generation, shoot.Annotations)
	})
	harness.Await(t, o.Client, s, "GCM-MSS-6: retries are counted", func(s *seedSet) error {
		p := s.Status.PendingReplica
		return has(p != nil && p.Name == "a-1" && p.Retries != nil && *p.Retries == 1, "pending %+v", p)
	})
	o.event(s, "RetryingShootReconciliation", "GCM-MSS-12: the retry is told")
	o.reconciled(second, "Succeeded")
	o.becomesSeed("a-1")
	o.atRest(s, 2, "GCM-MSS-9: the set has grown")

	o.change(first, func() {
		metav1.SetMetaDataAnnotation(&first.ObjectMeta, "seedmanagement.gardener.cloud/protect-from-deletion", "true")
	})
	o.scale(s, 1)
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", "a-1")}
	o.gone(managed, "GCM-MSS-10: the ManagedSeed of the replica that may go is deleted")
	o.gone(second, "GCM-MSS-10: and then its shoot, although the other has a lower number")
	o.atRest(s, 1, "GCM-MSS-11: nothing is pending any more")
	o.read(first)

	// The seed of the second replica is still there, so its number would not be used again, even if the status were lost.
	o.delete(s)
	o.event(s, "ReconcileError", "GCM-MSS-10: a set that cannot shrink says so")
	o.read(first)
	o.change(first, func() { delete(first.Annotations, "seedmanagement.gardener.cloud/protect-from-deletion") })
	o.gone(first, "GCM-MSS-7: a set that ends wants no replicas")
	o.gone(s, "GCM-MSS-11: and is released with the last")
}

// TestManagedSeedSetNames gives a set neighbours that have names like those of its replicas.
func TestManagedSeedSetNames(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	o.home()
	o.credentials("garden", "local")
	foreign := order("garden", "b-0", "local")
	o.create(foreign)
	o.seed("b-1", "local", "north")
	s := beds("b", 1)
	o.create(s)
	third := &gardencorev1beta1.Shoot{ObjectMeta: named("garden", "b-2")}
	harness.Await(t, o.Client, third, "GCM-MSS-9: a number whose shoot or seed is somebody else's is not used", func(shoot *gardencorev1beta1.Shoot) error {
		return has(metav1.IsControlledBy(shoot, s), "owners %v", shoot.OwnerReferences)
	})
	o.delete(s)
	o.gone(s, "GCM-MSS-11: a set whose shoot no seed has taken yet ends at once")
	if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(third), third); !apierrors.IsNotFound(err) {
		t.Errorf("GCM-MSS-10: the shoot went before the set, got %v", err)
	}
	o.read(foreign)
}

// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// patient lets the test say for itself when a gardenlet is silent.
func patient(c *gardenconfigv1alpha1.ServerConfiguration) {
	c.Controllers.Seed.MonitorPeriod = &metav1.Duration{Duration: day}
	c.Controllers.Seed.SyncPeriod = &metav1.Duration{Duration: 200 * time.Millisecond}
}

// TestManagedSeedAndItsShoot shows the conditions of a seed in its shoot, and has a gardenlet deployed again that cannot come back.
func TestManagedSeedAndItsShoot(t *testing.T) {
	t.Parallel()
	clk := harness.NewClock(t)
	o := operate(t, harness.WithClock(clk), harness.WithConfig(patient))
	o.provider("beds")
	o.home()
	o.credentials("garden", "beds")
	shoot := order("garden", "soil", "beds", func(s *gardencorev1beta1.Shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("soil.example.com")}
		s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
	})
	o.create(shoot)
	own := gardencorev1beta1.Condition{Type: "APIServerAvailable", Status: "True", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now()}
	o.changeStatus(shoot, func() { shoot.Status.Conditions = []gardencorev1beta1.Condition{own} })
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", "soil"), Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
		Shoot: &gardenseedmanagementv1alpha1.Shoot{Name: "soil"}, Gardenlet: &gardenseedmanagementv1alpha1.GardenletConfig{Config: planted()},
	}}
	o.create(managed)
	seed := o.seed("soil", "beds", "north")

	shows := func(status gardencorev1beta1.ConditionStatus) func(*gardencorev1beta1.Shoot) error {
		return func(s *gardencorev1beta1.Shoot) error {
			ready, err := condition(s.Status.Conditions, "GardenletReady")
			if err != nil {
				return err
			}
			_, err = condition(s.Status.Conditions, "APIServerAvailable")
			return has(err == nil && ready.Status == status, "conditions %v", s.Status.Conditions)
		}
	}
	harness.Await(t, o.Client, shoot, "GCM-SHOOTCOND-1: the shoot shows the conditions of its seed beside its own", shows("True"))

	o.changeStatus(seed, func() {
		seed.Status.ClientCertificateExpirationTimestamp = new(metav1.NewTime(time.Now().Add(time.Hour)))
	})
	o.read(managed)
	before := managed.Generation
	clk.Step(2 * day)
	harness.Await(t, o.Client, shoot, "GCM-SHOOTCOND-2: they follow those of the seed", shows("Unknown"))
	// The API counts the annotation as a new generation of a ManagedSeed and takes it away.
	harness.Await(t, o.Client, managed, "GCM-SEEDLIFE-4: a gardenlet whose certificate has ended is deployed again", func(m *gardenseedmanagementv1alpha1.ManagedSeed) error {
		return has(m.Generation > before || m.Annotations["gardener.cloud/operation"] == "reconcile", "generation %d, annotations %v", m.Generation, m.Annotations)
	})

	o.delete(managed)
	harness.Await(t, o.Client, shoot, "GCM-SHOOTCOND-1: a shoot that is no seed any more shows its own only", func(s *gardencorev1beta1.Shoot) error {
		return has(len(s.Status.Conditions) == 1 && s.Status.Conditions[0].Type == own.Type, "conditions %v", s.Status.Conditions)
	})
}

// TestMoveOfShoot tells whether the destination of a move is ready, and keeps the state of the shoot while it moves.
func TestMoveOfShoot(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(patient))
	o.provider("cloud")
	namespace := *o.project("dev").Spec.Namespace
	o.seed("old", "cloud", "north")
	destination := o.seed("young", "cloud", "north")
	shoot := o.shoot(namespace, "a", "cloud", func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("young") })
	state := &gardencorev1beta1.ShootState{ObjectMeta: named(namespace, "a")}
	o.create(state)
	moves := func(on string, kind gardencorev1beta1.LastOperationType, done gardencorev1beta1.LastOperationState) {
		t.Helper()
		o.changeStatus(shoot, func() {
			shoot.Status.SeedName = &on
			shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: done, LastUpdateTime: metav1.Now()}
		})
	}
	ready := func(status gardencorev1beta1.ConditionStatus, reason string) func(*gardencorev1beta1.Shoot) error {
		return func(s *gardencorev1beta1.Shoot) error {
			found, err := condition(s.Status.Constraints, "ReadyForMigration")
			if err != nil {
				return err
			}
			want := gardencorev1beta1.Condition{Type: "ReadyForMigration", Status: status, Reason: reason}
			diff := cmp.Diff(want, found, cmpopts.IgnoreFields(want, "Message", "LastTransitionTime", "LastUpdateTime"))
			return has(diff == "", "constraint (-want +got):\n%s", diff)
		}
	}
	moves("old", "Migrate", "Processing")
	harness.Await(t, o.Client, shoot, "GCM-MIGR-1: a destination that is not prepared is not ready", ready("False", "DestinationSeedUnready"))
	held(o, state, "core.gardener.cloud/shootstate", "GCM-SHOOTSTATE-1: the state of a shoot that moves is protected")
	o.changeStatus(destination, func() {
		destination.Status.ObservedGeneration = destination.Generation
		destination.Status.Conditions = append(destination.Status.Conditions, gardencorev1beta1.Condition{
			Type: "SeedSystemComponentsHealthy", Status: "True", LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
		})
	})
	harness.Await(t, o.Client, shoot, "GCM-MIGR-1: the destination is looked at again and again", ready("True", "DestinationSeedReady"))
	o.confirm(state)
	moves("young", "Restore", "Processing")
	o.changeStatus(destination, func() { destination.Status.Conditions = destination.Status.Conditions[:1] })
	harness.Await(t, o.Client, shoot, "GCM-MIGR-1: until the new seed has taken over", ready("False", "DestinationSeedUnready"))
	o.read(state)
	moves("young", "Restore", "Succeeded")
	harness.Await(t, o.Client, shoot, "GCM-MIGR-1: afterwards the constraint goes", func(s *gardencorev1beta1.Shoot) error {
		return has(len(s.Status.Constraints) == 0, "constraints %v", s.Status.Constraints)
	})
	o.gone(state, "GCM-SHOOTSTATE-1: afterwards the state is released")
}

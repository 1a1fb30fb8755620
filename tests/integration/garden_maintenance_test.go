// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

type shootChange = func(*gardencorev1beta1.Shoot)

// maintained is a garden whose clock is stepped into the maintenance time windows of its shoots.
type maintained struct {
	*operator

	clock     *harness.Clock
	namespace string
	// open is the begin of the windows, an hour and more after which versions expire.
	open time.Time
}

// maintain makes a garden whose profile offers versions that expire before the windows open.
func maintain(t *testing.T, options ...harness.Option) *maintained {
	t.Helper()
	c := harness.NewClock(t)
	m := &maintained{operator: operate(t, append(options, harness.WithClock(c))...), clock: c, open: c.Now().UTC().Add(3 * time.Hour).Truncate(time.Minute)}
	m.provider("cloud")
	m.offers("ending", "OperatingSystemConfig", "ending")
	m.offers("narrow", "OperatingSystemConfig", "narrow")
	m.seed("north-1", "cloud", "north")
	m.namespace = *m.project("dev").Spec.Namespace
	profile := &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "cloud"}}
	soon := &metav1.Time{Time: c.Now().Add(time.Hour)}
	image := func(version string, expires *metav1.Time) gardencorev1beta1.MachineImageVersion {
		return gardencorev1beta1.MachineImageVersion{
			ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: version, ExpirationDate: expires},
			CRI:              []gardencorev1beta1.CRI{{Name: "containerd"}}, Architectures: []string{"amd64"},
		}
	}
	old := image("1.0.0", nil)
	old.KubeletVersionConstraint = new("< 1.34")
	m.change(profile, func() {
		profile.Spec.Kubernetes.Versions = []gardencorev1beta1.ExpirableVersion{
			{Version: "1.36.3"}, {Version: "1.35.4"}, {Version: "1.35.1"}, {Version: "1.34.2"}, {Version: "1.33.9", ExpirationDate: soon},
		}
		profile.Spec.MachineImages = []gardencorev1beta1.MachineImage{
			{Name: "cloud", Versions: []gardencorev1beta1.MachineImageVersion{image("1.1.0", nil), image("1.0.0", nil)}},
			{Name: "ending", Versions: []gardencorev1beta1.MachineImageVersion{image("1.0.0", soon)}},
			{Name: "narrow", Versions: []gardencorev1beta1.MachineImageVersion{old}},
		}
	})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "account"}}
	m.create(secret,
		&gardencorev1beta1.SecretBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "former"}, Provider: &gardencorev1beta1.SecretBindingProvider{Type: "cloud"},
			SecretRef: corev1.SecretReference{Namespace: m.namespace, Name: "account"},
		},
		&gardensecurityv1alpha1.CredentialsBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: "account"}, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "cloud"},
			CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: m.namespace, Name: "account"},
		})
	return m
}

// windowed makes a shoot whose window is open for hours, and which has been created long ago.
func (m *maintained) windowed(name string, changes ...shootChange) *gardencorev1beta1.Shoot {
	m.t.Helper()
	window := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: maintenanceWindow(m.open, 6*time.Hour)}
		// Without a seed the scheduler would write the last operation.
		s.Spec.Kubernetes.Version, s.Spec.SeedName = "1.35.1", new("north-1")
	}
	shoot := m.shoot(m.namespace, name, "cloud", slices.Concat([]shootChange{withWorker("account"), window}, changes)...)
	m.ends(shoot, "Succeeded")
	return shoot
}

// ends reports about the last operation of a shoot, as its gardenlet does.
func (m *maintained) ends(shoot *gardencorev1beta1.Shoot, state gardencorev1beta1.LastOperationState) {
	m.t.Helper()
	m.changeStatus(shoot, func() {
		shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: state, LastUpdateTime: metav1.Now()}
		shoot.Status.ObservedGeneration = shoot.Generation
	})
}

// due steps the clock to the minute in which the shoot is maintained, if that is still to come.
func (m *maintained) due(shoot *gardencorev1beta1.Shoot) {
	m.t.Helper()
	window, ok := query.MaintenanceWindow(&shoot.Spec)
	if !ok {
		m.t.Fatalf("shoot %q has no window", shoot.Name)
	}
	minute := window.Due(m.clock.Now(), shoot.CreationTimestamp.Time, string(shoot.UID))
	if left := minute.Sub(m.clock.Now()); left > -2*time.Second {
		m.clock.Step(left + 2*time.Second)
	}
}

func image(name, version string) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.Workers[0].Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: name, Version: &version}
	}
}

func byHand(s *gardencorev1beta1.Shoot) {
	s.Spec.Maintenance.AutoUpdate = &gardencorev1beta1.MaintenanceAutoUpdate{MachineImageVersion: new(false)}
}

func confined(s *gardencorev1beta1.Shoot) { s.Spec.Maintenance.ConfineSpecUpdateRollout = new(true) }

// ended waits for the end of a maintenance.
func (m *maintained) ended(shoot *gardencorev1beta1.Shoot, state gardencorev1beta1.LastOperationState, what string) *gardencorev1beta1.Shoot {
	m.t.Helper()
	wait := patience(m.clock)
	return harness.Await(m.t, m.Client, shoot, what, func(s *gardencorev1beta1.Shoot) error {
		last := s.Status.LastMaintenance
		if last != nil && last.State == state {
			return nil
		}
		wait()
		return fmt.Errorf("last maintenance %+v", last)
	})
}

// asked sees a maintenance that an owner asks for.
func (m *maintained) asked() {
	m.t.Helper()
	asked := m.windowed("asked", image("cloud", "1.0.0"))
	m.change(asked, func() { metav1.SetMetaDataAnnotation(&asked.ObjectMeta, "gardener.cloud/operation", "maintain") })
	asked = m.ended(asked, "Succeeded", "GCM-MAINT-1: an owner may ask for the maintenance")
	if got := asked.Annotations["gardener.cloud/operation"]; asked.Spec.Kubernetes.Version != "1.35.4" || got != "" {
		m.t.Errorf("GCM-MAINT-8: Kubernetes %s, operation %q, want an update and no request any more", asked.Spec.Kubernetes.Version, got)
	}
}

// updates sees newer versions being taken.
func (m *maintained) updates(plain *gardencorev1beta1.Shoot) {
	m.t.Helper()
	if err := m.Client.Get(m.t.Context(), client.ObjectKeyFromObject(plain), plain); err != nil || plain.Status.LastMaintenance != nil {
		m.t.Fatalf("GCM-MAINT-1: a maintenance began before the window: %v, %v", plain.Status.LastMaintenance, err)
	}
	m.due(plain)
	plain = m.ended(plain, "Succeeded", "GCM-MAINT-4: a shoot is updated in its window")
	want := gardencorev1beta1.LastMaintenance{
		Description: "2 of 2 changes: Kubernetes of the control plane: updated from 1.35.1 to 1.35.4, because a newer one is offered and updates are automatic; " +
			`Image "cloud" of pool "one": updated from 1.0.0 to 1.1.0, because a newer one is offered and updates are automatic`,
		State: "Succeeded", TriggeredTime: plain.Status.LastMaintenance.TriggeredTime,
	}
	if diff := cmp.Diff(want, *plain.Status.LastMaintenance); diff != "" {
		m.t.Errorf("GCM-MAINT-12: the status (-want +got):\n%s", diff)
	}
	if got := *plain.Spec.Provider.Workers[0].Machine.Image.Version; plain.Spec.Kubernetes.Version != "1.35.4" || got != "1.1.0" {
		m.t.Errorf("GCM-MAINT-4, 6: Kubernetes %s, image %s, want the newest ones", plain.Spec.Kubernetes.Version, got)
	}
	const tasks = "deployInfrastructure,deployDNSRecordInternal,deployDNSRecordExternal,deployDNSRecordIngress,restartControlPlanePods"
	if diff := cmp.Diff(tasks, plain.Annotations["shoot.gardener.cloud/tasks"]); diff != "" {
		m.t.Errorf("GCM-MAINT-9: tasks (-want +got):\n%s", diff)
	}
	for _, reason := range []string{"KubernetesVersionMaintenance", "MachineImageVersionMaintenance"} {
		if e := m.event(plain, reason, "GCM-MAINT-11: an event tells of it"); e.Type != "Normal" {
			m.t.Errorf("GCM-MAINT-11: event %s is a %s", reason, e.Type)
		}
	}
}

// forces sees versions that have expired being replaced.
func (m *maintained) forces(forced *gardencorev1beta1.Shoot) {
	m.t.Helper()
	m.due(forced)
	forced = m.ended(forced, "Succeeded", "GCM-MAINT-7: what has expired is replaced")
	type facts struct {
		Kubernetes string
		Former     *string
		Binding    *string
		Gates      map[string]bool
	}
	got := facts{forced.Spec.Kubernetes.Version, forced.Spec.SecretBindingName, forced.Spec.CredentialsBindingName, forced.Spec.Kubernetes.KubeControllerManager.FeatureGates}
	if diff := cmp.Diff(facts{Kubernetes: "1.34.2", Binding: new("former"), Gates: map[string]bool{"AllAlpha": false}}, got); diff != "" {
		m.t.Errorf("GCM-MAINT-13: the spec (-want +got):\n%s", diff)
	}
	binding := &gardensecurityv1alpha1.CredentialsBinding{}
	if err := m.Client.Get(m.t.Context(), client.ObjectKey{Namespace: m.namespace, Name: "former"}, binding); err != nil || binding.CredentialsRef.Name != "account" {
		m.t.Errorf("GCM-MAINT-13: the binding is for %v, %v, want the Secret of the former one", binding.CredentialsRef, err)
	}
}

// fails sees an image that nothing can replace.
func (m *maintained) fails(ending *gardencorev1beta1.Shoot) {
	m.t.Helper()
	m.due(ending)
	ending = m.ended(ending, "Failed", "GCM-MAINT-12: what cannot be updated is a failure")
	last := ending.Status.LastMaintenance
	if !strings.HasPrefix(last.Description, "1 of 2 changes: ") || last.FailureReason == nil || !strings.Contains(*last.FailureReason, "end of its life") {
		m.t.Errorf("GCM-MAINT-12: %q, %v, want what was done and what was not", last.Description, last.FailureReason)
	}
	if ending.Spec.Kubernetes.Version != "1.35.4" {
		m.t.Errorf("GCM-MAINT-12: Kubernetes %s, want the update that was possible", ending.Spec.Kubernetes.Version)
	}
	if e := m.event(ending, "MachineImageVersionMaintenance", "GCM-MAINT-11: an event warns"); e.Type != "Warning" {
		m.t.Errorf("GCM-MAINT-11: the event is a %s", e.Type)
	}
}

// refuses sees changes that the server refuses.
func (m *maintained) refuses(narrow *gardencorev1beta1.Shoot) {
	m.t.Helper()
	before := narrow.DeepCopy()
	m.due(narrow)
	narrow = m.ended(narrow, "Failed", "GCM-MAINT-12: a refusal is reported")
	if last := narrow.Status.LastMaintenance; !strings.Contains(*last.FailureReason, "supports only kubelets < 1.34") {
		m.t.Errorf("GCM-MAINT-12: reason %q, want that of the server", *last.FailureReason)
	}
	if diff := cmp.Diff([]any{before.Spec, before.Annotations, before.Generation}, []any{narrow.Spec, narrow.Annotations, narrow.Generation}); diff != "" {
		m.t.Errorf("GCM-MAINT-12: nothing else is changed (-before +after):\n%s", diff)
	}
	m.event(narrow, "MaintenanceFailed", "GCM-MAINT-11: an event warns of it")
}

// rollsOut sees a change that was held back until the window.
func (m *maintained) rollsOut(held *gardencorev1beta1.Shoot) {
	m.t.Helper()
	before := held.Generation
	m.due(held)
	held = m.ended(held, "Succeeded", "GCM-MAINT-10: what was held back is rolled out")
	if held.Generation <= before || held.Annotations["gardener.cloud/operation"] != "" {
		m.t.Errorf("GCM-MAINT-10: generation %d, operation %q, want a new generation, which a gardenlet rolls out", held.Generation, held.Annotations["gardener.cloud/operation"])
	}
}

// retries sees a failed shoot whose change waits for the window.
func (m *maintained) retries(broken *gardencorev1beta1.Shoot) {
	m.t.Helper()
	const needs = "maintenance.shoot.gardener.cloud/needs-retry-operation"
	if broken.Annotations[needs] != "true" {
		m.t.Fatalf("API-SMUT-2: annotations %v, want the one that asks for a retry", broken.Annotations)
	}
	m.due(broken)
	broken = m.ended(broken, "Succeeded", "GCM-MAINT-8: a failed shoot is retried")
	if broken.Annotations[needs] != "" || broken.Annotations["gardener.cloud/operation"] != "" || broken.Generation <= broken.Status.ObservedGeneration {
		m.t.Errorf("GCM-MAINT-8: annotations %v, generation %d of %d, want a retry", broken.Annotations, broken.Status.ObservedGeneration, broken.Generation)
	}
}

func TestMaintenance(t *testing.T) {
	t.Parallel()
	m := maintain(t)
	plain := m.windowed("plain", image("cloud", "1.0.0"))
	forced := m.windowed("forced", byHand, image("cloud", "1.0.0"), formerly("former"), func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.Version = "1.33.9"
		s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{
			KubernetesConfig: gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{"StatefulSetStartOrdinal": true, "AllAlpha": false}},
		}
	})
	ending := m.windowed("ending", image("ending", "1.0.0"))
	narrow := m.windowed("narrow", byHand, image("narrow", "1.0.0"), func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = "1.33.9" })
	held := m.windowed("held", byHand, image("cloud", "1.1.0"), confined)
	broken := m.windowed("broken", byHand, image("cloud", "1.1.0"), confined)
	elsewhere := m.windowed("elsewhere", image("cloud", "1.0.0"), func(s *gardencorev1beta1.Shoot) {
		s.Spec.Maintenance.TimeWindow = maintenanceWindow(m.open.Add(-12*time.Hour), time.Hour)
	})

	m.asked()

	// What is changed now is left for the window.
	before := held.Generation
	m.change(held, func() { held.Spec.Kubernetes.Version = "1.35.4" })
	if held.Generation != before {
		t.Fatalf("API-SHOOTSTRAT-2: generation %d of a change that is held back, want %d", held.Generation, before)
	}
	m.ends(broken, "Failed")
	m.change(broken, func() { broken.Spec.Kubernetes.Version = "1.35.4" })
	m.clock.Step(m.open.Add(-time.Minute).Sub(m.clock.Now()))
	m.updates(plain)
	m.forces(forced)
	m.fails(ending)
	m.refuses(narrow)
	m.rollsOut(held)
	m.retries(broken)

	if err := m.Client.Get(t.Context(), client.ObjectKeyFromObject(elsewhere), elsewhere); err != nil || elsewhere.Status.LastMaintenance != nil {
		t.Errorf("GCM-MAINT-1: a shoot with another window was maintained: %v, %v", elsewhere.Status.LastMaintenance, err)
	}
	m.due(elsewhere)
	m.ended(elsewhere, "Succeeded", "GCM-MAINT-1: its own window comes")
}

// SPDX-License-Identifier: Apache-2.0

package shootstate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	timestamp = "gardener.cloud/timestamp"
	homeUID   = "shootstate.terrarium.garden/namespace-uid"
)

// TestSaves_GLET_STATE_2 writes a state, again when it is due, and only the time of one that is as it was.
func TestSaves_GLET_STATE_2(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, []client.Object{sprout()}, []client.Object{home(), authority(), infrastructure(`{"a":null,"b":"<&>"}`)})
	if got := l.pass(); got != 6*time.Hour {
		t.Errorf("the next pass comes after %s, want 6h", got)
	}
	first := l.state()
	if first == nil || len(first.Spec.Gardener) != 1 || len(first.Spec.Extensions) != 1 || first.Annotations[timestamp] != "2026-05-04T12:00:00Z" {
		t.Fatalf("the state is not what the seed has: %+v", first)
	}
	l.clock.Step(time.Hour)
	if got := l.pass(); got != 5*time.Hour {
		t.Errorf("a pass that comes too early is followed by another after %s, want 5h", got)
	}
	l.clock.Step(5 * time.Hour)
	l.pass()
	same := l.state()
	if diff := cmp.Diff(first.Spec, same.Spec); diff != "" || same.Annotations[timestamp] != "2026-05-04T18:00:00Z" {
		t.Errorf("the state changes although nothing has, or the time does not: %v (-first +second):\n%s", same.Annotations, diff)
	}
	changed := infrastructure(`{"a":null,"b":2}`)
	if err := l.SeedClient.Delete(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if err := l.SeedClient.Create(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	l.clock.Step(6 * time.Hour)
	l.pass()
	if got := string(l.state().Spec.Extensions[0].State.Raw); got != `{"a":null,"b":2}` {
		t.Errorf("the state is %s, want what the extension says now, with what is null in it", got)
	}
	want := map[string]int{"create": 1, `patch {"metadata":{"annotations":{"gardener.cloud/timestamp":"2026-05-04T18:00:00Z"}}}`: 1, "update": 1}
	if diff := cmp.Diff(want, l.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// TestLeavesAlone_GLET_STATE_2 makes passes on shoots whose state is not to be written.
func TestLeavesAlone_GLET_STATE_2(t *testing.T) {
	t.Parallel()
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "one"}}
	seed := func() []client.Object { return []client.Object{home(), authority()} }
	for name, tc := range map[string]struct {
		reason string
		garden []client.Object
		seed   []client.Object
		want   time.Duration
		event  string
	}{
		"Gone":         {reason: "there is no shoot", seed: seed()},
		"Other seed":   {reason: "another gardenlet is responsible", garden: []client.Object{sprout(func(s *gardencorev1beta1.Shoot) { s.Status.SeedName = new("other") })}, seed: seed()},
		"In deletion":  {reason: "nobody would delete what is written now (GLET-STATE-4)", garden: []client.Object{leaving(sprout())}, seed: seed()},
		"Creating":     {reason: "it is not whole", garden: []client.Object{sprout(func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation = nil })}, seed: seed(), want: 10 * time.Minute},
		"Managed seed": {reason: "the seed is backed up as a shoot", garden: []client.Object{sprout(), managed}, seed: seed(), want: 6 * time.Hour},
		"No namespace": {reason: "a seed that was made anew has nothing to say", garden: []client.Object{sprout()}, seed: []client.Object{authority()}, want: 10 * time.Minute, event: "ShootStateIncomplete"},
		"Ends":         {reason: "nor has a namespace that ends", garden: []client.Object{sprout()}, seed: []client.Object{leaving(home()), authority()}, want: 10 * time.Minute, event: "ShootStateIncomplete"},
		"No secrets":   {reason: "nor has an empty one", garden: []client.Object{sprout()}, seed: []client.Object{home()}, want: 10 * time.Minute, event: "ShootStateIncomplete"},
		"Large": {
			reason: "trying again at once does not help", garden: []client.Object{sprout()},
			seed: []client.Object{home(), generated("ca", strings.Repeat("x", 1100<<10), nil)}, want: 6 * time.Hour, event: `Warning ShootStateTooLarge The state of the control plane was not saved`,
		},
		"Labels": {
			reason: "labels are stored as well", garden: []client.Object{sprout()},
			seed: []client.Object{home(), generated("ca", "x", manyLabels())}, want: 6 * time.Hour, event: `ShootStateTooLarge`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, tc.garden, tc.seed)
			if got := l.pass(); got != tc.want {
				t.Errorf("%s\nthe next pass comes after %s, want %s", tc.reason, got, tc.want)
			}
			if l.state() != nil {
				t.Errorf("%s\na state is written", tc.reason)
			}
			if got := l.event(); !strings.Contains(got, tc.event) || (tc.event == "") != (got == "") {
				t.Errorf("%s\nevent %q, want %q", tc.reason, got, tc.event)
			}
		})
	}
}

// manyLabels are labels as a Secret may have, of more than a state may have.
func manyLabels() map[string]string {
	labels := map[string]string{}
	for i := range 20_000 {
		labels[fmt.Sprintf("l%d", i)] = strings.Repeat("x", 63)
	}
	return labels
}

// TestLastOneStays_GLET_STATE_3: a state that cannot be read in full replaces nothing.
func TestLastOneStays_GLET_STATE_3(t *testing.T) {
	t.Parallel()
	last := &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout"}}
	last.Spec.Gardener = []gardencorev1beta1.GardenerResourceData{{Name: "ca", Type: "secret", Data: raw(t, "former")}}
	l := newLandscape(t, []client.Object{sprout(), last}, []client.Object{home(), authority(), infrastructure("", refers("v1", "Secret", "missing"))})
	l.pass()
	if diff := cmp.Diff(last.Spec, l.state().Spec); diff != "" {
		t.Errorf("the state changes (-want +got):\n%s", diff)
	}
	if got := l.event(); !strings.Contains(got, `Infrastructure "sprout" refers to`) || !strings.Contains(got, `Secret "missing" does not exist`) {
		t.Errorf("event %q, want what is missing, and who refers to it", got)
	}
}

// TestMadeAnew_GLET_STATE_3: the reconciliation of a shoot on a seed that was made anew makes its namespace again, with new keys. They do not
// replace those from before, until somebody has deleted them.
func TestMadeAnew_GLET_STATE_3(t *testing.T) {
	t.Parallel()
	there := func(uid types.UID) *corev1.Namespace {
		n := home()
		n.UID = uid
		return n
	}
	l := newLandscape(t, []client.Object{sprout()}, []client.Object{there("first"), authority()})
	l.pass()
	saved := l.state()
	if diff := cmp.Diff("first", saved.Annotations[homeUID]); diff != "" {
		t.Errorf("the namespace that is saved (-want +got):\n%s", diff)
	}
	l.seed(there("second"), generated("ca", "another", nil))
	l.clock.Step(6 * time.Hour)
	if got := l.pass(); got != 10*time.Minute || !strings.Contains(l.event(), `ShootStateIncomplete`) {
		t.Errorf("the next pass comes after %s, or no event says why", got)
	}
	if diff := cmp.Diff(saved, l.state()); diff != "" {
		t.Errorf("the keys of a control plane that was made anew replace the ones from before (-want +got):\n%s", diff)
	}
	if err := l.GardenClient.Delete(t.Context(), saved); err != nil {
		t.Fatal(err)
	}
	if got := l.pass(); got != 6*time.Hour || l.state().Annotations[homeUID] != "second" {
		t.Errorf("without a state from before, the next pass comes after %s, and %v is saved", got, l.state().Annotations)
	}
}

// TestEarlierStates_GLET_STATE_3 makes passes on shoots with states that do not say of which namespace they are, or are of another shoot.
func TestEarlierStates_GLET_STATE_3(t *testing.T) {
	t.Parallel()
	born := metav1.NewTime(noon().Add(-24 * time.Hour))
	for name, tc := range map[string]struct {
		reason string
		age    time.Duration
		marks  map[string]string
	}{
		"Earlier version": {"it says when it was written, and no more", 0, map[string]string{timestamp: "2026-05-04T06:00:00Z"}},
		"Former shoot":    {"it has keys of a shoot that is gone, however young", time.Second, map[string]string{timestamp: "2026-05-04T11:59:59Z", homeUID: "former"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{
				Namespace: "garden-meadow", Name: "sprout", Annotations: tc.marks, CreationTimestamp: metav1.NewTime(born.Add(-tc.age)),
			}}
			n := home()
			n.UID = "first"
			young := func(s *gardencorev1beta1.Shoot) { s.CreationTimestamp = born }
			l := newLandscape(t, []client.Object{sprout(young), last}, []client.Object{n, authority()})
			l.pass()
			if got := l.state(); len(got.Spec.Gardener) != 1 || got.Annotations[homeUID] != "first" {
				t.Errorf("%s\nthe state is not replaced: %v", tc.reason, got.Annotations)
			}
		})
	}
}

// TestDeletedMeanwhile_GLET_STATE_4: a shoot that is deleted while its state is read leaves no state behind.
func TestDeletedMeanwhile_GLET_STATE_4(t *testing.T) {
	t.Parallel()
	s := sprout(func(s *gardencorev1beta1.Shoot) { s.Finalizers = []string{"gardener"} })
	l := newLandscape(t, []client.Object{s}, []client.Object{home(), authority()})
	cached := l.GardenClient
	l.GardenClient = stale{Client: cached, shoot: s.DeepCopy()}
	if err := cached.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := l.pass(); got != 0 {
		t.Errorf("another pass comes after %s, want none", got)
	}
	l.GardenClient = cached
	if l.state() != nil {
		t.Error("a state is written after the deletion has begun")
	}
}

// TestRefusals_GLET_STATE_3 has the garden refuse what is written.
func TestRefusals_GLET_STATE_3(t *testing.T) {
	t.Parallel()
	invalid := apierrors.NewInvalid(gardencorev1beta1.Kind("ShootState"), "sprout", field.ErrorList{field.Invalid(field.NewPath("spec", "gardener"), "top secret", "is bad")})
	for name, tc := range map[string]struct {
		refuses error
		want    time.Duration
		event   string
	}{
		"Large":   {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), 6 * time.Hour, "ShootStateTooLarge"},
		"Invalid": {invalid, 10 * time.Minute, "spec.gardener (FieldValueInvalid)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, []client.Object{sprout()}, []client.Object{home(), authority()})
			l.refuses = tc.refuses
			if got := l.pass(); got != tc.want {
				t.Errorf("the next pass comes after %s, want %s", got, tc.want)
			}
			if got := l.event(); !strings.Contains(got, tc.event) || strings.Contains(got, "top secret") {
				t.Errorf("event %q, want %q and no content", got, tc.event)
			}
		})
	}
}

// TestForeignPlace: a namespace of another shoot is not read.
func TestForeignPlace_GLET_SHOOT_18(t *testing.T) {
	t.Parallel()
	theirs := home()
	theirs.Annotations["shoot.gardener.cloud/uid"] = "uid-2"
	l := newLandscape(t, []client.Object{sprout()}, []client.Object{theirs, authority()})
	if _, err := l.Reconcile(t.Context(), request()); err == nil || !strings.Contains(err.Error(), `belongs to the shoot with UID "uid-2"`) || l.state() != nil {
		t.Errorf("Reconcile(...) = %v, want an error about the namespace, and no state", err)
	}
}

// TestOff_GLET_STATE_2: without workers, nothing is registered.
func TestOff_GLET_STATE_2(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, nil, nil)
	l.Config.ConcurrentSyncs = new(0)
	if err := l.AddToManager(kit.Clusters{}); err != nil {
		t.Errorf("AddToManager(...) = %v, want that it adds nothing", err)
	}
}

// TestStateInDeletion_GLET_STATE_3: what somebody deletes is written anew once it is gone.
func TestStateInDeletion_GLET_STATE_3(t *testing.T) {
	t.Parallel()
	last := leaving(&gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout"}})
	l := newLandscape(t, []client.Object{sprout(), last}, []client.Object{home(), authority()})
	if got := l.pass(); got != 10*time.Minute || len(l.writes) > 0 {
		t.Errorf("the next pass comes after %s with writes %v, want 10m and none", got, l.writes)
	}
}

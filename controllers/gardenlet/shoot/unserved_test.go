// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

func asleep(s *gardencorev1beta1.Shoot) {
	s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
}

func toUS(s *gardencorev1beta1.Shoot) { s.Spec.SeedName, s.Generation = new("us-1"), 4 }

// resting is a shoot of newLandscape that was reconciled a while ago.
func resting(changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := fresh(func(s *gardencorev1beta1.Shoot) {
		s.Finalizers, s.Status = []string{"gardener"}, running().Status
		s.Status.TechnicalID = "shoot--dev--a"
	})
	for _, change := range changes {
		change(s)
	}
	return s
}

// recorded are the events so far.
func (l *landscape) recorded() []string {
	var all []string
	for {
		select {
		case event := <-l.events.Events:
			all = append(all, event)
		default:
			return all
		}
	}
}

func TestWhatWouldBreakAClusterIsNotBegun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		kind   gardencorev1beta1.LastOperationType
		want   string
	}{
		"SHOOT_2_Move":     {reason: "a move must not be ignored silently", shoot: resting(toUS), kind: "Reconcile", want: "No operation runs on the shoot: spec.seedName (another seed than status.seedName) is not served yet: "},
		"FailedAndRetried": {reason: "a new generation of a failed shoot is refused as well", shoot: resting(toUS, state("Reconcile", "Failed")), kind: "Reconcile", want: "No operation runs on the shoot: spec.seedName"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, tc.shoot)
			for range 2 {
				if result, err := l.pass(t.Context()); err != nil || !result.IsZero() {
					t.Fatalf("%s\nReconcile(...) = %v, %v, want rest until the owner acts", tc.reason, result, err)
				}
			}
			s := l.shoot(t)
			last := s.Status.LastOperation
			want := &gardencorev1beta1.LastOperation{Type: tc.kind, State: "Failed"}
			if diff := cmp.Diff(want, last, cmpopts.IgnoreFields(*want, "Description", "LastUpdateTime")); diff != "" {
				t.Errorf("%s\nlastOperation (-want +got):\n%s", tc.reason, diff)
			}
			if !strings.HasPrefix(last.Description, tc.want) || !strings.HasSuffix(last.Description, "undo the setting") {
				t.Errorf("%s\ndescription = %q, want %q and what to do", tc.reason, last.Description, tc.want)
			}
			errs := []gardencorev1beta1.LastError{{TaskID: new("unserved"), Codes: []gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}}}
			if diff := cmp.Diff(errs, s.Status.LastErrors, cmpopts.IgnoreFields(errs[0], "Description", "LastUpdateTime")); diff != "" {
				t.Errorf("%s\nlastErrors (-want +got):\n%s", tc.reason, diff)
			}
			if s.Status.ObservedGeneration != s.Generation {
				t.Errorf("%s\nobservedGeneration = %d, want %d: the answer is to this generation", tc.reason, s.Status.ObservedGeneration, s.Generation)
			}
			if !query.Refused(s) {
				t.Errorf("%s\nvalidation does not see that the shoot was refused, and keeps its owner from taking the setting back", tc.reason)
			}
			if l.told(t) != nil {
				t.Errorf("%s\nExtensions were told, and might act", tc.reason)
			}
			if events := l.recorded(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning ReconcileError ") {
				t.Errorf("%s\nevents %q, want one warning", tc.reason, events)
			}
		})
	}
}

func TestOwnerTakesTheSettingBack(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, resting(toUS))
	if _, err := l.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := l.shoot(t)
	s.Spec.SeedName, s.Generation = new("eu-1"), 5
	if err := l.GardenClient.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		// Nothing runs the components, so the flow would wait until its time limits.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := l.pass(ctx); err == nil {
			t.Error("the operation succeeded although nothing runs its components")
		}
	})
	if last := l.shoot(t).Status.LastOperation; last.Type != "Reconcile" || last.State != "Aborted" || l.told(t) == nil {
		t.Errorf("lastOperation = %+v, want an operation that was begun and aborted", last)
	}
}

func TestRefusedShootIsDeleted(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, resting(toUS))
	if _, err := l.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.GardenClient.Delete(t.Context(), l.shoot(t)); err != nil {
		t.Fatal(err)
	}
	if s := l.shoot(t); s.Generation == s.Status.ObservedGeneration {
		s.Generation++ // as the API server does when a deletion begins
		if err := l.GardenClient.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.pass(t.Context()); err != nil {
		t.Errorf("Reconcile(...) = %v, want the end of the shoot", err)
	}
	err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, &gardencorev1beta1.Shoot{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the shoot is still there: %v", err)
	}
}

func TestOperationsThatNobodyCarriesOut(t *testing.T) {
	t.Parallel()
	const key = "gardener.cloud/operation"
	cases := map[string]struct {
		reason string
		asked  string
		left   string
		events []string
	}{
		"Rotation":  {reason: "there is no password", asked: "rotate-observability-credentials", events: []string{`"rotate-observability-credentials"`}},
		"Twice":     {reason: "it is answered once", asked: "rotate-observability-credentials;rotate-observability-credentials", events: []string{`"rotate-observability-credentials"`}},
		"Forced":    {reason: "it lets a change pass, and goes with the run that carries it out", asked: "force-in-place-update", left: "force-in-place-update"},
		"Maintain":  {reason: "the garden answers it", asked: "maintain", left: "maintain"},
		"Mixed":     {reason: "an operation that is served stays", asked: "retry;rotate-observability-credentials", left: "retry", events: []string{`"rotate-observability-credentials"`}},
		"Served":    {reason: "an operation that is served stays", asked: "retry", left: "retry"},
		"SomeValue": {reason: "so does what others may know", asked: "other.example.com", left: "other.example.com"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, resting(annotated(key, tc.asked), func(s *gardencorev1beta1.Shoot) {
				s.Status.LastOperation.LastUpdateTime = metav1.NewTime(time.Now())
			}))
			for range 2 {
				if _, err := l.pass(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got, found := l.shoot(t).Annotations[key]; got != tc.left || found != (tc.left != "") {
				t.Errorf("%s\nannotation %q (there: %t), want %q", tc.reason, got, found, tc.left)
			}
			events := l.recorded()
			if len(events) != len(tc.events) {
				t.Fatalf("%s\nevents %q, want one for each of %q", tc.reason, events, tc.events)
			}
			for i, want := range tc.events {
				if !strings.HasPrefix(events[i], "Warning NotServedYet Operation ") || !strings.Contains(events[i], want) {
					t.Errorf("%s\nevent %q, want a warning about %s", tc.reason, events[i], want)
				}
			}
		})
	}
}

func TestConstraintForWhatIsMissing(t *testing.T) {
	t.Parallel()
	available := func(s *gardencorev1beta1.Shoot) {
		s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{
			FailureTolerance: gardencorev1beta1.FailureTolerance{Type: "node"},
		}}
	}
	other := gardencorev1beta1.Condition{Type: "HibernationPossible", Status: "False"}
	s := running(available, func(s *gardencorev1beta1.Shoot) { s.Status.Constraints = []gardencorev1beta1.Condition{other} })
	first := shoot.Succeeded(s, facts.Awake, now())
	if len(first.Constraints) != 2 {
		t.Fatalf("constraints = %+v, want one more", first.Constraints)
	}
	c := first.Constraints[1]
	want := gardencorev1beta1.Condition{
		Type: "EverythingServed", Status: "False", Reason: "NotServedYet", Codes: []gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"},
		LastTransitionTime: metav1.NewTime(now()), LastUpdateTime: metav1.NewTime(now()),
	}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreFields(want, "Message")); diff != "" || !strings.HasPrefix(c.Message, "spec.controlPlane.highAvailability is not served yet: ") {
		t.Errorf("constraint with message %q (-want +got):\n%s", c.Message, diff)
	}
	if first.LastOperation.State != "Succeeded" || first.LastErrors != nil {
		t.Errorf("The rest of the shoot is served: %+v, %v", first.LastOperation, first.LastErrors)
	}
	s.Status = first
	second := shoot.Succeeded(s, facts.Awake, now().Add(time.Hour))
	if diff := cmp.Diff(c, second.Constraints[1]); diff != "" {
		t.Errorf("A repeated finding holds still (-first +second):\n%s", diff)
	}
	s.Spec.ControlPlane = nil
	if diff := cmp.Diff([]gardencorev1beta1.Condition{other}, shoot.Succeeded(s, facts.Awake, now()).Constraints); diff != "" {
		t.Errorf("only the constraint that belongs to others is left (-want +got):\n%s", diff)
	}
}

func TestEmergencyStop_GLET_SEED_13(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		want   string
	}{
		"New":      {reason: "who waits hears why", shoot: fresh(), want: "An operator has stopped all operations"},
		"Changed":  {reason: "who waits hears why", shoot: resting(func(s *gardencorev1beta1.Shoot) { s.Generation = 4 }), want: "An operator has stopped all operations"},
		"Deletion": {reason: "a deletion can do the most harm", shoot: resting(inDeletion), want: "An operator has stopped all operations"},
		"Periodic": {reason: "a shoot at rest has nothing to report", shoot: resting(), want: ""}, // reconciled long ago
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, tc.shoot)
			seed := &gardencorev1beta1.Seed{}
			if err := l.GardenClient.Get(t.Context(), client.ObjectKey{Name: "eu-1"}, seed); err != nil {
				t.Fatal(err)
			}
			seed.Annotations = map[string]string{"shoot.gardener.cloud/emergency-stop-reconciliations": "true"}
			if err := l.GardenClient.Update(t.Context(), seed); err != nil {
				t.Fatal(err)
			}
			result, err := l.pass(t.Context())
			if err != nil || result.RequeueAfter != 15*time.Second {
				t.Errorf("%s\nReconcile(...) = %v, %v, want another look after 15 s", tc.reason, result, err)
			}
			if description := l.shoot(t).Status.LastOperation.Description; !strings.HasPrefix(description, tc.want) || (tc.want == "") != (description == "") {
				t.Errorf("%s\ndescription %q, want %q", tc.reason, description, tc.want)
			}
			if l.told(t) != nil {
				t.Errorf("%s\nan operation was begun", tc.reason)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	testclock "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/apis/appliance/query"
	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	local "github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
)

type (
	shoot     = gardencorev1beta1.Shoot
	condition = gardencorev1beta1.Condition
)

// sprout is a shoot on seed one.
func sprout(change ...func(*shoot)) *shoot {
	s := &shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout", UID: "1", Generation: 1}}
	s.Spec.SeedName = new("one")
	for _, c := range change {
		c(s)
	}

	return s
}

func conditions(all ...condition) func(*shoot) {
	return func(s *shoot) { s.Status.Conditions = all }
}

func constraints(all ...condition) func(*shoot) {
	return func(s *shoot) { s.Status.Constraints = all }
}

func failed(descriptions ...string) func(*shoot) {
	return func(s *shoot) {
		for _, text := range descriptions {
			s.Status.LastErrors = append(s.Status.LastErrors, gardencorev1beta1.LastError{Description: text})
		}
	}
}

func doing(state gardencorev1beta1.LastOperationState, text string) func(*shoot) {
	return func(s *shoot) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: state, Description: text}
	}
}

func grown(s *shoot) { s.Generation++ }

func confined(s *shoot) {
	s.Spec.Maintenance = &gardencorev1beta1.Maintenance{ConfineSpecUpdateRollout: new(true)}
}

func forTests(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }

func leaving(s *shoot) { s.DeletionTimestamp = new(metav1.Now()) }

// record tells a recorder of a change by a member and waits until it is offered to the store.
func record(t *testing.T, recorder *timeline.Recorder, before, after runtime.Object) {
	t.Helper()
	recordAs(t, recorder, &user.DefaultInfo{Name: "member"}, before, after)
}

func recordAs(t *testing.T, recorder *timeline.Recorder, who user.Info, before, after runtime.Object) {
	t.Helper()
	ctx, cancel := context.WithCancel(genericapirequest.WithUser(t.Context(), who))
	recorder.Changed(ctx, before, after)
	cancel()
	recorder.Run(ctx)
}

// TestRecorded has the entries for changes of a shoot, in one line each.
func TestRecorded(t *testing.T) {
	t.Parallel()
	well, broken := condition{Type: "APIServerAvailable", Status: "True", Reason: "Up"}, condition{Type: "APIServerAvailable", Status: "False", Reason: "Down", Message: "no answer"}
	for name, tc := range map[string]struct {
		reason        string
		before, after *shoot
		want          []string
	}{
		"created":       {reason: "the first thing that is asked for", after: sprout(), want: []string{"Created"}},
		"removed":       {reason: "and the last", before: sprout(), want: []string{"Removed"}},
		"deletion":      {reason: "a deletion is asked for once", before: sprout(), after: sprout(leaving, grown), want: []string{"Deletion requested"}},
		"in deletion":   {reason: "and then goes on", before: sprout(leaving), after: sprout(leaving)},
		"operation":     {reason: "a new generation of the same specification is an operation", before: sprout(), after: sprout(grown), want: []string{"Operation requested (generation 2)"}},
		"confined":      {reason: "a change that waits for the maintenance makes no new generation", before: sprout(confined), after: sprout(confined, forTests), want: []string{"Changed spec.purpose"}},
		"not changed":   {reason: "and nothing else is told of such a shoot", before: sprout(confined), after: sprout(confined, doing("Processing", "a")), want: []string{"Reconcile Processing: a"}},
		"first":         {reason: "a condition that is new", before: sprout(), after: sprout(conditions(well)), want: []string{"APIServerAvailable is True (Up)"}},
		"other status":  {reason: "or has another status", before: sprout(conditions(well)), after: sprout(conditions(broken)), want: []string{"APIServerAvailable is False (Down): no answer"}},
		"other reason":  {reason: "or another reason", before: sprout(conditions(well)), after: sprout(conditions(condition{Type: well.Type, Status: well.Status, Reason: "Again"})), want: []string{"APIServerAvailable is True (Again)"}},
		"other message": {reason: "but not one with another message", before: sprout(conditions(broken)), after: sprout(conditions(condition{Type: broken.Type, Status: broken.Status, Reason: broken.Reason, Message: "still no answer"}))},
		"lost":          {reason: "one that was removed would otherwise be told as it was for ever", before: sprout(conditions(well, broken)), after: sprout(), want: []string{"APIServerAvailable is gone", "APIServerAvailable is gone"}},
		"constraint":    {reason: "constraints are told as well", before: sprout(constraints(condition{Type: "ReadyForMigration", Status: "False"})), after: sprout(), want: []string{"ReadyForMigration is gone"}},
		"moved":         {reason: "and one that has another place is not gone", before: sprout(conditions(well), constraints(condition{Type: "X", Status: "True"})), after: sprout(conditions(condition{Type: "X", Status: "True"}, well))},
		"errors":        {reason: "errors are told when they come", before: sprout(), after: sprout(failed("no space")), want: []string{"no space"}},
		"same errors":   {reason: "once", before: sprout(failed("no space")), after: sprout(failed("no space"))},
		"no errors":     {reason: "and go", before: sprout(failed("no space")), after: sprout(), want: []string{"No errors any more"}},
		"processing":    {reason: "an operation in progress is told by its tasks", before: sprout(doing("Processing", "a")), after: sprout(doing("Processing", "b"))},
		"pending":       {reason: "one that waits by what it waits for", before: sprout(doing("Pending", "a")), after: sprout(doing("Pending", "b")), want: []string{"Reconcile Pending: b"}},
		"succeeded":     {reason: "its end is told", before: sprout(doing("Processing", "a")), after: sprout(doing("Succeeded", "done")), want: []string{"Reconcile Succeeded: done"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := testclock.NewFakeClock(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
			_, store := openReports(t, clk)
			var before, after runtime.Object
			if tc.before != nil {
				before = tc.before
			}
			if tc.after != nil {
				after = tc.after
			}
			record(t, timeline.NewRecorder(store, clk), before, after)
			if diff := cmp.Diff(tc.want, told(t, store)); diff != "" {
				t.Errorf("%s\nentries (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRecordedIsBounded has a gardenlet that writes as much into a status as a request takes. Entries are read by the thousand.
func TestRecordedIsBounded(t *testing.T) {
	t.Parallel()
	const most = 80 << 10
	long := strings.Repeat("x", 5000)
	hostile := func(s *shoot) {
		doing(gardencorev1beta1.LastOperationState(long), long)(s)
		s.Status.LastOperation.Type = gardencorev1beta1.LastOperationType(long)
		for n := range 300 {
			s.Status.LastErrors = append(s.Status.LastErrors, gardencorev1beta1.LastError{
				Description: long, TaskID: &long, Codes: slices.Repeat([]gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCode(long)}, 30),
			})
			c := condition{Status: gardencorev1beta1.ConditionStatus(long), Reason: long, Message: long}
			c.Type = gardencorev1beta1.ConditionType(fmt.Sprint(n, long))
			s.Status.Conditions = append(s.Status.Conditions, c)
		}
	}
	clk := testclock.NewFakeClock(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
	_, store := openReports(t, clk)
	recorder := timeline.NewRecorder(store, clk)
	record(t, recorder, sprout(), sprout(hostile))
	record(t, recorder, sprout(hostile), sprout())
	lines := told(t, store)
	if len(lines) < 4 || len(lines) > 250 {
		t.Errorf("%d entries of two changes, want some of each and not thousands", len(lines))
	}
	page, err := store.List(t.Context(), local.Query{Namespace: "garden-meadow"})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range page.Entries {
		if size, err := local.Size(entry); err != nil || size > most {
			t.Fatalf("an entry of type %s has %d bytes, %v, want at most %d", entry.Type, size, err, most)
		}
	}
}

// TestChangesThatWaitAreBounded has a gardenlet write errors with long texts while nobody records: what does not fit is left out, entry by entry,
// and told of. Later there is room again.
func TestChangesThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	const changes, most = 2000, 32 << 20
	clk := testclock.NewFakeClock(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
	told := make(chan error, 1)
	store, err := local.Open(local.Config{Dir: t.TempDir(), Keep: time.Hour, MaxBytes: 1 << 30, Clock: clk, Failed: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	recorder := timeline.NewRecorder(store, clk)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	texts := slices.Repeat([]string{strings.Repeat("x", 2000)}, 20)
	for range changes { // Each is two entries.
		recorder.Changed(ctx, sprout(), sprout(grown, failed(texts...)))
	}
	recorder.Run(ctx)
	recorder.Changed(ctx, sprout(), sprout(grown))
	recorder.Run(ctx)
	// Somebody who waits has the writer write all.
	if err := store.Append(t.Context(), task("admin", "garden-a", "last", 1)); err != nil {
		t.Fatal(err)
	}
	page, err := store.List(t.Context(), local.Query{Namespace: "garden-meadow"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	kept := len(page.Entries) - 1
	if size := kept / 2 * 20 * 2000; size < most/2 || size > most {
		t.Errorf("%d entries with %d bytes of texts waited, want about %d", kept, size, most)
	}
	close(told)
	if diff := cmp.Diff(fmt.Sprintf("%v: %d entries were left out", local.ErrFull, 2*changes-kept), fmt.Sprint(<-told)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestWhoAsked has a recorder that starts anew between what somebody asks for and the operation.
func TestWhoAsked(t *testing.T) {
	t.Parallel()
	clk := testclock.NewFakeClock(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
	_, store := openReports(t, clk)
	gardenlet := &user.DefaultInfo{Name: "gardener.cloud:system:seed:one"}
	record(t, timeline.NewRecorder(store, clk), nil, sprout())
	if diff := cmp.Diff([]string{"Created"}, told(t, store)); diff != "" {
		t.Fatal(diff)
	}
	again := timeline.NewRecorder(store, clk)
	recordAs(t, again, gardenlet, sprout(), sprout(doing("Processing", "a")))
	recordAs(t, again, gardenlet, sprout(grown), sprout(grown, grown))
	recordAs(t, again, gardenlet, sprout(doing("Processing", "a")), sprout(doing("Succeeded", "b")))
	namesake := func(s *shoot) { s.UID = "2" }
	recordAs(t, again, gardenlet, sprout(namesake), sprout(namesake, doing("Processing", "c")))
	want := []string{
		"Created", "Reconcile Processing: a (requested by member)", "Operation requested (generation 3)",
		"Reconcile Succeeded: b (requested by member)", "Reconcile Processing: c",
	}
	if diff := cmp.Diff(want, told(t, store)); diff != "" {
		t.Errorf("who asked is found again, what the gardenlet does by itself is asked by nobody, and nobody asked for a shoot of the same name (-want +got):\n%s", diff)
	}
}

// told returns what is in a store, after all that was offered to it before.
func told(t *testing.T, store *local.Store) []string {
	t.Helper()
	// What somebody waits for is written at once, and what was there before with it.
	last := &local.Entry{Type: gardenappliancev1alpha1.TimelineEntryRemoved, Subject: gardenappliancev1alpha1.TimelineSubject{Kind: "Shoot", Name: "last"}}
	last.Namespace = "garden"
	if err := store.Append(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	page, err := store.List(t.Context(), local.Query{Namespace: "garden-meadow"})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, entry := range page.Entries {
		lines = append(lines, query.Summary(entry))
	}

	return lines
}

// none has no objects.
type none struct{}

func (none) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	return nil, apierrors.NewNotFound(gardencorev1beta1.Resource("shoots"), name)
}

// TestTasksAfterTheEnd reports tasks of a shoot that is gone, as a gardenlet does with the last ones of a deletion.
func TestTasksAfterTheEnd(t *testing.T) {
	t.Parallel()
	clk := testclock.NewFakeClock(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC))
	_, store := openReports(t, clk)
	recorder := timeline.NewRecorder(store, clk)
	reports := timeline.NewReports(timeline.Settings{
		Store: store, Recorder: recorder, Clock: clk, Objects: map[string]rest.Getter{"Shoot": none{}},
		Client: func(who user.Info) (timeline.Client, bool) {
			return timeline.Client{Seed: who.GetName(), Gardenlet: true}, true
		},
	})
	record(t, recorder, sprout(leaving), nil)
	for _, tc := range []struct {
		reason, seed string
		uid          types.UID
		accepted     int32
	}{
		{reason: "the seed that it was on tells its end", seed: "one", uid: "1", accepted: 1},
		{reason: "no other does", seed: "two", uid: "1"},
		{reason: "nor is it that of another shoot of its name", seed: "one", uid: "2"},
	} {
		subject := gardenappliancev1alpha1.TimelineSubject{Kind: "Shoot", Namespace: "garden-meadow", Name: "sprout", UID: tc.uid}
		report := &gardenappliancev1alpha1.TimelineReport{Spec: gardenappliancev1alpha1.TimelineReportSpec{
			Tasks: []gardenappliancev1alpha1.ReportedTask{{Time: metav1.NewMicroTime(clk.Now()), Subject: subject}},
		}}
		ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: tc.seed})
		if _, err := reports.Create(ctx, report, nil, &metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if report.Status.Accepted != tc.accepted {
			t.Errorf("%s: %d tasks are accepted, want %d", tc.reason, report.Status.Accepted, tc.accepted)
		}
	}
}

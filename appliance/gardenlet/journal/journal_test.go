// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/journal"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

var start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// garden hands each report to the test, which decides what becomes of it.
type garden struct {
	client.Client

	reports chan *gardenappliancev1alpha1.TimelineReport
	answers chan error
	// stop ends the journal.
	stop context.CancelFunc
}

func (g *garden) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	report, ok := obj.(*gardenappliancev1alpha1.TimelineReport)
	if !ok {
		return fmt.Errorf("%T is no report", obj)
	}
	g.reports <- report

	return <-g.answers
}

func ids(report *gardenappliancev1alpha1.TimelineReport) []string {
	var all []string
	for i := range report.Spec.Tasks {
		all = append(all, report.Spec.Tasks[i].Task.ID)
	}

	return all
}

func observed(id string, err error) flow.Observation {
	return flow.Observation{
		Flow: "reconcile", ID: flow.ID(id), Title: "Doing " + id, After: []flow.ID{"before"}, Ready: start, Started: start.Add(time.Second), Ended: start.Add(3 * time.Second), Err: err,
	}
}

// run starts a journal whose time the test steps.
func run(t *testing.T) (*journal.Journal, *garden, *testclock.FakeClock) {
	t.Helper()
	clk := testclock.NewFakeClock(start)
	j := journal.New(clk, testr.New(t))
	g := &garden{reports: make(chan *gardenappliancev1alpha1.TimelineReport), answers: make(chan error)}
	ctx, cancel := context.WithCancel(t.Context())
	g.stop = cancel
	done := make(chan struct{})
	go func() {
		defer close(done)
		j.Run(ctx, g)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})

	return j, g, clk
}

// step waits until the journal waits, and lets time pass.
func step(t *testing.T, clk *testclock.FakeClock, d time.Duration) {
	t.Helper()
	for !clk.HasWaiters() {
		select {
		case <-t.Context().Done():
			t.Fatal("the journal does not wait")
		case <-time.After(time.Millisecond):
		}
	}
	clk.Step(d)
}

func TestReport(t *testing.T) {
	t.Parallel()
	j, g, clk := run(t)
	subject := operation.Subject{Kind: "Shoot", Namespace: "garden-a", Name: "one", UID: "u1"}
	j.Task(subject, observed("first", nil))
	j.Task(subject, observed("second", errors.New("no space")))
	step(t, clk, 2*time.Second)
	got := <-g.reports
	g.answers <- nil
	if diff := cmp.Diff([]string{"first", "second"}, ids(got)); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	second := got.Spec.Tasks[1]
	if second.Task.Error != "no space" || second.Task.Duration.Duration != 2*time.Second || second.Task.Waiting.Duration != time.Second ||
		second.Subject.UID != "u1" || second.Task.Title != "Doing second" || !slices.Equal(second.Task.After, []string{"before"}) {
		t.Errorf("the task says %+v", second)
	}
}

// TestGardenAway checks that tasks are kept while the garden does not answer, in order and not without bounds.
func TestGardenAway(t *testing.T) {
	t.Parallel()
	j, g, clk := run(t)
	j.Task(operation.Subject{}, observed("kept", nil))
	step(t, clk, 2*time.Second)
	<-g.reports
	for n := range 10_100 {
		j.Task(operation.Subject{}, observed(fmt.Sprintf("t%d", n), nil))
	}
	g.answers <- errors.New("connection refused")
	step(t, clk, 15*time.Second)
	first := <-g.reports
	if got := ids(first); len(got) != 500 || got[0] != "t100" {
		t.Errorf("after an outage %d tasks are reported, the first is %q; want 500 from t100 on", len(got), got[0])
	}
	g.answers <- nil
	reported := len(first.Spec.Tasks)
	for reported < 10_000 {
		next := <-g.reports
		g.answers <- nil
		reported += len(next.Spec.Tasks)
	}
}

// TestLongTexts checks that no report is larger than what a garden takes, however long the errors of tasks are.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	const tasks, most = 600, 2 << 20
	j, g, clk := run(t)
	for n := range tasks {
		j.Task(operation.Subject{}, observed(fmt.Sprintf("t%d", n), errors.New(strings.Repeat("<é>", 20_000))))
	}
	step(t, clk, 2*time.Second)
	for reported := 0; reported < tasks; {
		report := <-g.reports
		g.answers <- nil
		if got := ids(report); got[0] != fmt.Sprintf("t%d", reported) {
			t.Fatalf("the report after %d tasks begins with %s", reported, got[0])
		}
		reported += len(report.Spec.Tasks)
		text, err := json.Marshal(report)
		if err != nil || len(text) > most {
			t.Errorf("a report of %d tasks has %d bytes (%v); want at most %d", len(report.Spec.Tasks), len(text), err, most)
		}
		if text := report.Spec.Tasks[0].Task.Error; len(text) > gardenappliancev1alpha1.MaxTimelineText || !utf8.ValidString(text) {
			t.Errorf("the error of a task has %d bytes; want at most %d that are text", len(text), gardenappliancev1alpha1.MaxTimelineText)
		}
	}
}

// TestTooMuch checks that tasks are kept and reported again if the garden takes no more of them at the moment.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	j, g, clk := run(t)
	j.Task(operation.Subject{}, observed("kept", nil))
	step(t, clk, 2*time.Second)
	<-g.reports
	g.answers <- apierrors.NewTooManyRequests("seed reports too much", 5)
	step(t, clk, 15*time.Second)
	if got := ids(<-g.reports); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("%q are reported again", got)
	}
	g.answers <- nil
}

// TestOtherGarden checks that a garden without timelines is left alone.
func TestOtherGarden(t *testing.T) {
	t.Parallel()
	j, g, clk := run(t)
	j.Task(operation.Subject{}, observed("unwanted", nil))
	step(t, clk, 2*time.Second)
	<-g.reports
	g.answers <- apierrors.NewNotFound(gardenappliancev1alpha1.Resource("timelinereports"), "")
	step(t, clk, 10*time.Minute)
	j.Task(operation.Subject{}, observed("asked again", nil))
	step(t, clk, 2*time.Second)
	if diff := cmp.Diff([]string{"asked again"}, ids(<-g.reports)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	g.answers <- nil
}

func TestFarewell(t *testing.T) {
	t.Parallel()
	j, g, _ := run(t)
	j.Task(operation.Subject{}, observed("last", nil))
	g.stop()
	if diff := cmp.Diff([]string{"last"}, ids(<-g.reports)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	g.answers <- nil
}

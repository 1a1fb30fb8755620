// SPDX-License-Identifier: Apache-2.0

// Package journal hands the tasks of a gardenlet's flows to the timelines of the garden, in the background and in batches. A flow
// never waits for it: while the garden is away, a bounded number of tasks is kept, the newest ones.
package journal

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	// maxTasks is the number of tasks that are kept while they cannot be reported.
	maxTasks = 10_000
	// maxBytes is the size of a report beyond which no further task is added: a garden refuses requests that are much larger.
	maxBytes = 1 << 20
	// interval is the time between two reports.
	interval = 2 * time.Second
	// pause is the time after a report that failed, absence that after one which the garden does not know.
	pause   = 15 * time.Second
	absence = 10 * time.Minute
	// farewell is how long the last report may take when the gardenlet stops.
	farewell = 3 * time.Second
)

// Journal implements operation.Journal. Run has to be called.
type Journal struct {
	clock clock.Clock
	log   logr.Logger

	mu      sync.Mutex
	tasks   []gardenappliancev1alpha1.ReportedTask
	dropped int
	added   chan struct{}
}

var _ operation.Journal = (*Journal)(nil)

// New returns an empty journal.
func New(clk clock.Clock, log logr.Logger) *Journal {
	return &Journal{clock: clk, log: log, added: make(chan struct{}, 1)}
}

// Transition implements operation.Journal. The garden itself sees each change of a status when it is written.
func (*Journal) Transition(operation.Subject, operation.Transition) {}

// Task implements operation.Journal.
func (j *Journal) Task(subject operation.Subject, task flow.Observation) {
	reported := gardenappliancev1alpha1.ReportedTask{
		Time: metav1.NewMicroTime(task.Ended),
		Subject: gardenappliancev1alpha1.TimelineSubject{
			Kind: subject.Kind, Namespace: subject.Namespace, Name: subject.Name, UID: subject.UID,
		},
		Task: gardenappliancev1alpha1.TimelineTask{
			Flow: cut(task.Flow), ID: cut(string(task.ID)), Title: cut(task.Title),
			Waiting:  metav1.Duration{Duration: task.Started.Sub(task.Ready)},
			Duration: metav1.Duration{Duration: task.Ended.Sub(task.Started)},
		},
	}
	for _, id := range task.After {
		reported.Task.After = append(reported.Task.After, string(id))
	}
	if task.Err != nil {
		reported.Task.Error = cut(task.Err.Error())
	}
	j.mu.Lock()
	j.tasks = append(j.tasks, reported)
	j.trim()
	j.mu.Unlock()
	select {
	case j.added <- struct{}{}:
	default:
	}
}

// cut leaves out of a text what the garden would cut.
func cut(text string) string {
	if len(text) <= gardenappliancev1alpha1.MaxTimelineText {
		return text
	}

	return strings.Clone(strings.ToValidUTF8(text[:gardenappliancev1alpha1.MaxTimelineText], "")) // The rest is not kept.
}

// trim drops the oldest tasks if there are too many.
func (j *Journal) trim() {
	if more := len(j.tasks) - maxTasks; more > 0 {
		j.tasks = j.tasks[more:]
		j.dropped += more
	}
}

// Run reports tasks until ctx ends, and then what is left.
func (j *Journal) Run(ctx context.Context, garden client.Client) {
	for {
		select {
		case <-j.added:
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
			defer cancel()
			_ = j.report(last, garden) // Nobody tries again.

			return
		}
		j.wait(ctx, interval)
		if ctx.Err() == nil {
			j.reportAll(ctx, garden)
		}
	}
}

// reportAll reports until nothing is left, and pauses after a failure.
func (j *Journal) reportAll(ctx context.Context, garden client.Client) {
	for ctx.Err() == nil {
		err := j.report(ctx, garden)
		switch {
		case err == nil:
			return
		case meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
			// A garden of another make has no timelines.
			j.log.V(1).Info("The garden takes no tasks for timelines", "reason", err.Error())
			j.forget()
			j.wait(ctx, absence)

			return
		default:
			j.log.Info("Tasks could not be reported to the timeline, trying again", "reason", err.Error())
			j.wait(ctx, pause)
		}
	}
}

func (j *Journal) wait(ctx context.Context, d time.Duration) {
	timer := j.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// report reports all tasks. Those that could not be reported are kept.
func (j *Journal) report(ctx context.Context, garden client.Client) error {
	for {
		batch := j.take()
		if len(batch) == 0 {
			return nil
		}
		report := &gardenappliancev1alpha1.TimelineReport{Spec: gardenappliancev1alpha1.TimelineReportSpec{Tasks: batch}}
		if err := garden.Create(ctx, report); err != nil {
			j.giveBack(batch)

			return err
		}
	}
}

func (j *Journal) take() []gardenappliancev1alpha1.ReportedTask {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dropped > 0 {
		j.log.Info("Tasks were left out of the timeline, because the garden was away for too long", "tasks", j.dropped)
		j.dropped = 0
	}
	n := 0
	for size := 0; n < min(len(j.tasks), gardenappliancev1alpha1.MaxTimelineReportTasks); n++ {
		if size += sizeOf(&j.tasks[n]); n > 0 && size > maxBytes {
			break
		}
	}
	batch := j.tasks[:n:n]
	j.tasks = j.tasks[n:]

	return batch
}

// sizeOf is what a task takes in a report.
func sizeOf(task *gardenappliancev1alpha1.ReportedTask) int {
	text, err := json.Marshal(task)
	if err != nil {
		return 0 // It cannot be reported either.
	}

	return len(text)
}

func (j *Journal) giveBack(batch []gardenappliancev1alpha1.ReportedTask) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tasks = append(batch, j.tasks...)
	j.trim()
}

func (j *Journal) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tasks, j.dropped = nil, 0
}

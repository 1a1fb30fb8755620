// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// stepTimeout is long because some steps load images.
const stepTimeout = time.Hour

// step is one step of starting or removing the cluster.
type step struct {
	name flow.ID
	// after are the steps that must be done before; other steps run in parallel.
	after []flow.ID
	// do returns a note for the user about what was done, if any.
	do func(ctx context.Context) (note string, err error)
}

// runSteps runs the steps and prints a line for each that is done. The first failure stops the others.
func runSteps(ctx context.Context, clk clock.Clock, out io.Writer, steps []step) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var notes sync.Map
	tasks := make([]flow.Task, 0, len(steps))
	for _, s := range steps {
		tasks = append(tasks, flow.Task{ID: s.name, Title: string(s.name), After: s.after, Timeout: stepTimeout, Do: func(ctx context.Context) error {
			note, err := s.do(ctx)
			notes.Store(s.name, note)
			return err
		}})
	}
	graph, err := flow.Compile("up", tasks...)
	if err != nil {
		return err
	}
	err = graph.Run(ctx, flow.Options{Clock: clk, Observe: func(done flow.Observation) {
		if done.Err != nil {
			cancel()
			return
		}
		note, _ := notes.Load(done.ID)
		printStep(out, done.ID, fmt.Sprint(note), done.Ended.Sub(done.Started))
	}})
	return firstCause(err)
}

// firstCause removes the steps that failed only because another step failed.
func firstCause(err error) error {
	var causes []error
	for _, failed := range flow.Errors(err) {
		if !errors.Is(failed.Err, context.Canceled) {
			causes = append(causes, fmt.Errorf("%s: %w", failed.ID, failed.Err))
		}
	}
	if len(causes) == 0 {
		return err
	}
	return errors.Join(causes...)
}

func printStep(out io.Writer, name flow.ID, note string, took time.Duration) {
	if note != "" {
		note = "  " + note
	}
	fmt.Fprintf(out, "  %-26s %6.1fs%s\n", name, took.Seconds(), note) //nolint:errcheck // A failed report must not stop the work.
}

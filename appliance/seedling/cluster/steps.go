// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
)

// step is one thing to do on the way up. Steps run at the same time unless one comes after another.
type step struct {
	name  string
	after []string
	// do returns what people should know about what was done, if anything.
	do func(ctx context.Context) (note string, err error)
}

// runSteps does every step and prints a line when it is done. The first that fails stops the others.
func runSteps(ctx context.Context, clk clock.PassiveClock, out io.Writer, steps []step) error {
	done := map[string]chan struct{}{}
	for _, s := range steps {
		done[s.name] = make(chan struct{})
	}
	var printing sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range steps {
		group.Go(func() error {
			for _, before := range s.after {
				select {
				case <-done[before]:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			began := clk.Now()
			note, err := s.do(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			printing.Lock()
			defer printing.Unlock()
			printStep(out, s.name, note, clk.Since(began))
			close(done[s.name])
			return nil
		})
	}
	return group.Wait()
}

func printStep(out io.Writer, name, note string, took time.Duration) {
	if note != "" {
		note = "  " + note
	}
	fmt.Fprintf(out, "  %-26s %6.1fs%s\n", name, took.Seconds(), note)
}

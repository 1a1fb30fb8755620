// SPDX-License-Identifier: Apache-2.0

package target

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// runTime is how long a run may take, and objectTime how much longer for each object that it is about.
	runTime    = time.Minute
	objectTime = time.Second
	// workers is the number of runs at the same time, and workersOfOne that of the runs for one namespace. A run can be held up until its
	// end by the API server that it is about: each request to one answers late, or a webhook in a shoot does.
	workers, workersOfOne = 20, 2
)

// ErrSlow says that a run was ended because it took too long.
var ErrSlow = errors.New("the API server or its webhooks answer too slowly")

// Queue is that of controllers whose runs are about shoots.
func Queue() kit.Queue { return kit.Queue{Concurrency: workers, PerNamespace: workersOfOne} }

// Bound bounds a run that is about so many objects.
func Bound(ctx context.Context, objects int) (context.Context, context.CancelFunc) {
	limit := runTime + time.Duration(objects)*objectTime
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: the run was ended after %s", ErrSlow, limit))
}

// Explain adds to an error that the run was ended for its length, if it was.
func Explain(run context.Context, err error) error {
	if cause := context.Cause(run); err != nil && errors.Is(cause, ErrSlow) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

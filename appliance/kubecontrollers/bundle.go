// SPDX-License-Identifier: Apache-2.0

package kubecontrollers

import (
	"context"
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// runnable is a controller of the library.
type runnable interface {
	Run(ctx context.Context, workers int)
}

// publishing returns a loop that writes the CA bundle into objects. The library makes such a controller for one bundle, so there is
// a new one for each bundle; it looks at all objects again.
func publishing(c Config, name string, of func(bundle []byte) (runnable, error)) ([]loop, error) {
	bundle, changed := c.Identity.Authorities.WatchCABundle()
	l, err := of(bundle)
	if err != nil {
		return nil, fmt.Errorf("make loop %q: %w", name, err)
	}

	return []loop{{name, func(ctx context.Context) {
		for ctx.Err() == nil {
			runUntil(ctx, l, changed)
			bundle, changed = c.Identity.Authorities.WatchCABundle()
			next, err := of(bundle)
			if err != nil {
				utilruntime.HandleErrorWithContext(ctx, err, "Loop does not take up the new CA bundle", "loop", name)

				continue
			}
			l = next
		}
	}}}, nil
}

// runUntil runs a controller until ctx ends or the channel is closed.
func runUntil(ctx context.Context, l runnable, end <-chan struct{}) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx, otherWorkers)
	}()
	select {
	case <-ctx.Done():
	case <-end:
	}
	stop()
	<-done
}

// SPDX-License-Identifier: Apache-2.0

package kubecontrollers

import (
	"context"
	"fmt"
	"sync"
)

// Run runs all loops until ctx ends. It calls ready when their caches are synced, and returns when all loops and caches have
// stopped.
func Run(ctx context.Context, c Config, ready func()) error {
	if err := c.validate(); err != nil {
		return err
	}
	from, err := newClients(c)
	if err != nil {
		return fmt.Errorf("start loops: %w", err)
	}
	// This also stops what the library has started if a later loop cannot be created.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	loops, err := makeLoops(ctx, c, from)
	if err != nil {
		return fmt.Errorf("start loops: %w", err)
	}

	var running sync.WaitGroup
	for _, l := range loops {
		running.Go(func() { l.run(ctx) })
	}
	from.start(ctx)
	if from.wait(ctx) {
		ready()
	}
	running.Wait()
	cancel()
	from.shutdown()

	return nil
}

func makeLoops(ctx context.Context, c Config, from *clients) ([]loop, error) {
	var all []loop
	for _, makeLoop := range makers() {
		loops, err := makeLoop(ctx, c, from)
		if err != nil {
			return nil, err
		}
		all = append(all, loops...)
	}

	return all, nil
}

func (c *clients) start(ctx context.Context) {
	c.informers.Start(ctx.Done())
	c.metadataInformers.Start(ctx.Done())
	close(c.started)
}

// wait returns false if ctx ends before the caches are synced.
func (c *clients) wait(ctx context.Context) bool {
	for _, synced := range c.informers.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return false
		}
	}

	return ctx.Err() == nil
}

func (c *clients) shutdown() {
	c.informers.Shutdown()
	c.metadataInformers.Shutdown()
}

// SPDX-License-Identifier: Apache-2.0

package cluster

import "context"

// WriteFiles is writeFiles for tests: what comes after it starts processes.
func (c *Cluster) WriteFiles() error { return c.writeFiles() }

// Remove is the end of Down for tests: the given step, and the removal of the files. The steps between them change the machine.
func (c *Cluster) Remove(ctx context.Context, keepImages bool, first func(context.Context) (string, error)) error {
	return c.remove(ctx, []step{{name: "first", do: first}}, step{name: "files", do: func(ctx context.Context) (string, error) { return c.removeFiles(ctx, keepImages) }})
}

// OwnTrace is ownTrace for tests.
func (c *Cluster) OwnTrace(path string) bool { return c.ownTrace(path) }

// Direct is direct for tests.
func (c Config) Direct(environment func(string) string) []string { return c.direct(environment) }

// Lock is lock for tests.
func (c *Cluster) Lock() (func(), error) { return c.lock() }

// EndUnrecorded is endUnrecorded for tests.
func (c *Cluster) EndUnrecorded(ctx context.Context) error { return c.endUnrecorded(ctx) }

// RuntimeArgs are the arguments of the containerd of the cluster, for tests.
func (c *Cluster) RuntimeArgs() []string { return c.runtime().args }

// Save is save for tests.
func (c Config) Save() error { return c.save() }

// MakeRunDir is makeRunDir for tests.
func (c Config) MakeRunDir() error { return c.makeRunDir() }

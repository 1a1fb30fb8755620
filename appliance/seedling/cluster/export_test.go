// SPDX-License-Identifier: Apache-2.0

package cluster

// WriteFiles is writeFiles for tests: what comes after it starts processes.
func (c *Cluster) WriteFiles() error { return c.writeFiles() }

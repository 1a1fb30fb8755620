// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"slices"

	"github.com/terrarium-garden/terrarium/appliance/seedling/process"
)

// endUnrecorded ends parts of this cluster that have no record, because the command that started them was killed before it
// wrote one. They would hold the ports and files of the parts that are started in their place. Shims have the mark of the
// cluster as well, but not the arguments of a part: the pods continue to run.
func (c *Cluster) endUnrecorded(ctx context.Context) error {
	marked, err := process.WithEnvironment(c.config.mark())
	if err != nil {
		return err
	}
	var failed []error
	for _, p := range c.parts() {
		record, alive, err := c.table.Find(p.name)
		if err != nil {
			return err
		}
		for _, one := range marked {
			recorded := alive && one.PID == record.PID
			if !recorded && len(one.Command) > 0 && slices.Equal(one.Command[1:], p.args) {
				failed = append(failed, one.End(ctx, grace))
			}
		}
	}
	return errors.Join(failed...)
}

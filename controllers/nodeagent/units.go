// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Unit is the unit under which the agent itself runs. It is restarted last, when nothing else is left to do.
const Unit = "gardener-node-agent.service"

// Units are the units of a machine, whatever runs them.
type Units interface {
	// Files returns what a unit consists of on this machine.
	Files(unit *gardenextensionsv1alpha1.Unit) ([]File, error)
	// Reload makes the changed files of units known.
	Reload(ctx context.Context) error
	// Restart makes a unit run with its files as they are, or ends it if its command or its enablement says so.
	Restart(ctx context.Context, unit *gardenextensionsv1alpha1.Unit) error
	// Stop ends a unit for good, before its files are removed.
	Stop(ctx context.Context, name string) error
}

// Stopped reports whether a unit is not to run.
func Stopped(unit *gardenextensionsv1alpha1.Unit) bool {
	return unit.Command != nil && *unit.Command == gardenextensionsv1alpha1.UnitCommandStop || unit.Enable != nil && !*unit.Enable
}

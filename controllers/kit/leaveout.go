// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// LeaveOut are controllers that do not run, by name. It learns the names of all controllers while they are added.
type LeaveOut struct {
	names []string
	known []string
}

// NewLeaveOut leaves out the controllers with some names.
func NewLeaveOut(names []string) *LeaveOut { return &LeaveOut{names: names} }

// Has reports whether the controller of that name is left out.
func (l *LeaveOut) Has(name string) bool {
	if l == nil {
		return false
	}
	l.known = append(l.known, name)
	return slices.Contains(l.names, name)
}

// Check fails for names that no controller has. Call it when all controllers are added.
func (l *LeaveOut) Check() error {
	for _, name := range l.names {
		if !slices.Contains(l.known, name) {
			slices.Sort(l.known)
			return fmt.Errorf("no controller is called %q; there are: %s", name, strings.Join(slices.Compact(l.known), ", "))
		}
	}
	return nil
}

// idle is a manager that does not run what is added to it. A controller starts its watches when it runs, so one that is left out
// costs nothing.
type idle struct{ manager.Manager }

// Add implements manager.Manager.
func (idle) Add(manager.Runnable) error { return nil }

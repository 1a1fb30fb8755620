// SPDX-License-Identifier: Apache-2.0

package multicall

import (
	"path/filepath"
	"slices"
)

// Applet is one program inside the binary.
type Applet struct {
	// Name selects the applet, as the name of the binary or as its first argument.
	Name string
	// Run is the program; it gets its arguments without the program name and returns the exit status.
	Run func(args []string) int
}

// Table is the list of the programs of one binary; names are unique.
type Table []Applet

// Names returns the names of the applets in the order of the table.
func (t Table) Names() []string {
	names := make([]string, 0, len(t))
	for _, applet := range t {
		names = append(names, applet.Name)
	}
	return names
}

// Select returns the applet that a command line (with the program name first) selects, with its
// arguments. The program name takes precedence over the first argument, so that an applet called
// through its link can have arguments with names of applets.
func (t Table) Select(commandLine []string) (Applet, []string, bool) {
	for depth := range min(2, len(commandLine)) {
		wanted := commandLine[depth]
		if depth == 0 {
			wanted = filepath.Base(wanted)
		}
		at := slices.IndexFunc(t, func(a Applet) bool { return a.Name == wanted })
		if at >= 0 {
			return t[at], commandLine[depth+1:], true
		}
	}
	return Applet{}, nil, false
}

// SPDX-License-Identifier: Apache-2.0

package multicall

import (
	"path/filepath"
	"slices"
)

// Applet is one program inside the binary.
type Applet struct {
	// Name is what the binary has to be called, or given as its first argument, to be this applet.
	Name string
	// Run is the program; it gets its arguments without its own name and returns the exit status.
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

// Select finds the applet that a whole command line (with the program name first) asks for and
// returns it with the arguments meant for it. The name of the program goes before its first
// argument, so that an applet called through its link can have arguments that look like applets.
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

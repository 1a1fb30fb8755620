// SPDX-License-Identifier: Apache-2.0

package seedauthorizer

import "strings"

// verbs is a set of verbs.
type verbs uint8

const (
	get verbs = 1 << iota
	list
	watch
	create
	update
	patch
	remove

	read  = get | list | watch
	write = update | patch
)

// verbOf returns the verb with a name, or none for verbs that gardenlets do not use.
func verbOf(name string) verbs {
	switch name {
	case "get":
		return get
	case "list":
		return list
	case "watch":
		return watch
	case "create":
		return create
	case "update":
		return update
	case "patch":
		return patch
	case "delete":
		return remove
	default:
		return 0
	}
}

func (v verbs) has(one verbs) bool { return one != 0 && v&one == one }

// String implements fmt.Stringer.
func (v verbs) String() string {
	var names []string
	for i, name := range []string{"get", "list", "watch", "create", "update", "patch", "delete"} {
		if v&(1<<i) != 0 {
			names = append(names, name)
		}
	}

	return strings.Join(names, ", ")
}

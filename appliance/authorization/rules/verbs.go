// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// Verbs is a set of verbs.
type Verbs uint8

// The verbs of gardenlets. Delete is that of one object: none deletes collections.
const (
	Get Verbs = 1 << iota
	List
	Watch
	Create
	Update
	Patch
	Delete

	Read  = Get | List | Watch
	Write = Update | Patch
)

// VerbOf returns the verb with a name, or none for verbs that gardenlets do not use.
func VerbOf(name string) Verbs {
	switch name {
	case "get":
		return Get
	case "list":
		return List
	case "watch":
		return Watch
	case "create":
		return Create
	case "update":
		return Update
	case "patch":
		return Patch
	case "delete":
		return Delete
	default:
		return 0
	}
}

// Has reports whether a verb is in the set.
func (v Verbs) Has(one Verbs) bool { return one != 0 && v&one == one }

// String implements fmt.Stringer.
func (v Verbs) String() string {
	var names []string
	for i, name := range []string{"get", "list", "watch", "create", "update", "patch", "delete"} {
		if v&(1<<i) != 0 {
			names = append(names, name)
		}
	}

	return strings.Join(names, ", ")
}

// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"fmt"
	"strings"

	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	// maxNamedObjects is how much of what is left is named.
	maxNamedObjects = 10
	// unseen stands for what is left beyond the end of a list that was not reached.
	unseen = "more than could be looked at"
)

// leftover is what is still there: how much it is, and the names of the first. Names of an owner's objects may be endless, and are cut.
type leftover struct {
	names []string
	count int
	// more is set if nobody has looked at all there is.
	more bool
}

func (l *leftover) add(name string) {
	if l.count++; len(l.names) < maxNamedObjects {
		l.names = append(l.names, lastoperation.Cut(name))
	}
}

// join adds what is left elsewhere.
func (l *leftover) join(other leftover) {
	l.count, l.more = l.count+other.count, l.more || other.more
	l.names = append(l.names, other.names[:min(len(other.names), maxNamedObjects-len(l.names))]...)
}

func (l *leftover) none() bool { return l.count == 0 && !l.more }

// String names the first and counts the others.
func (l *leftover) String() string {
	text := strings.Join(l.names, ", ")
	if others := l.count - len(l.names); others > 0 {
		text = fmt.Sprintf("%s and %d more", text, others)
	}
	switch {
	case !l.more:
		return text
	case text == "":
		return unseen
	default:
		return text + ", and " + unseen
	}
}

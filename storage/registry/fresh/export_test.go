// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/utils/clock"
)

// Ruled leaves the watch caches of a getter as they are.
var Ruled = ruled

// RuledWith is Ruled, with another clock for bookmarks, and no watch with a selector goes over more than so many records.
func RuledWith(c clock.Clock, most int) func(generic.RESTOptionsGetter, Logs) generic.RESTOptionsGetter {
	return func(of generic.RESTOptionsGetter, logs Logs) generic.RESTOptionsGetter {
		return getter{RESTOptionsGetter: of, logs: logs, farthest: most, clock: c}
	}
}

const (
	// Farthest is the bound of a server.
	Farthest = farthest
	// BeforeTheEnd is how long before its end a watch gets the last bookmark.
	BeforeTheEnd = beforeTheEnd
	// Patient is the number of records that a watch may leave untaken.
	Patient = patient
)

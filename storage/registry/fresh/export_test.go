// SPDX-License-Identifier: Apache-2.0

package fresh

import "k8s.io/apiserver/pkg/registry/generic"

// Ruled leaves the watch caches of a getter as they are.
var Ruled = ruled

// RuledUpTo is Ruled, and no watch with a selector goes over more than so many records.
func RuledUpTo(most int) func(generic.RESTOptionsGetter, Logs) generic.RESTOptionsGetter {
	return func(of generic.RESTOptionsGetter, logs Logs) generic.RESTOptionsGetter {
		return getter{RESTOptionsGetter: of, logs: logs, farthest: most}
	}
}

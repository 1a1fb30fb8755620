// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"
)

// Room reports whether there is a place for a new object beside most others of a sort, and takes it for the request. there lists the names of
// those that are stored, and has to read them from a fresh view. Objects that other requests were just allowed to create count as well:
// several requests at once would otherwise each find the last free place. A plugin that asks for room comes after those that may refuse
// the object.
func (w *World) Room(
	ctx context.Context, a admission.Attributes, sort string, most int, there func(context.Context) ([]string, error),
) (bool, error) {
	created, err := meta.Accessor(a.GetObject())
	if err != nil {
		return false, unreadable(err)
	}
	// The request may have no name: that of the object is complete.
	name := created.GetName()
	var others []string
	var first bool
	if !a.IsDryRun() {
		others, first = w.Announce(ctx, sort, name)
	}
	stored, err := there(ctx)
	if err == nil {
		others = append(others, stored...)
		slices.Sort(others)
		others = slices.DeleteFunc(slices.Compact(others), func(other string) bool { return other == name })
		if len(others) < most {
			return true, nil
		}
	}
	if first {
		w.Withdraw(ctx, sort, name)
	}

	return false, err
}

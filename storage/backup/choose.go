// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Target says which state is wanted. At most one of its fields is set; none is the newest state.
type Target struct {
	// Name is that of a snapshot, whose state is wanted as it is.
	Name string
	// Time wants the last state that is known from before or at that time.
	Time time.Time
	// Revision wants the state of the objects at that revision.
	Revision int64
}

// ErrGap says that increments are missing.
var ErrGap = errors.New("increments are missing")

// believed returns the files without snapshots that were taken while the clock was ahead: their times are still to come, and one whose time has
// come is further. They would be taken for the newest state, though what goes on from them may be removed by now.
func believed(all []Entry, now time.Time) []Entry {
	var furthest int64
	for _, e := range snapshots(all) {
		if !e.Time.After(now) {
			furthest = max(furthest, e.Objects.To)
		}
	}

	return slices.DeleteFunc(slices.Clone(all), func(e Entry) bool {
		return e.Kind == Full && e.Time.After(now) && e.Objects.To < furthest
	})
}

// choose returns the snapshot and the increments that lead to a state.
func choose(all []Entry, want Target, same func(last, next Entry) (bool, error)) (base Entry, then []Entry, err error) {
	base, err = chooseBase(all, want)
	if err != nil || want.Name != "" {
		return base, nil, err
	}
	if !want.Time.IsZero() {
		// Later files may be of another history, and would come between those that are wanted.
		all = slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Time.After(want.Time) })
	}
	found, beyond, err := chainOf(all, base, same)
	if err != nil {
		return base, nil, err
	}
	reached := base
	for _, e := range found {
		if want.Revision > 0 && reached.Objects.To >= want.Revision {
			break
		}
		then, reached = append(then, e), e
	}
	switch {
	case want.Revision > 0 && reached.Objects.To < want.Revision && beyond == nil:
		return base, nil, fmt.Errorf("revision %d is not saved: the saved ones end at %d", want.Revision, reached.Objects.To)
	case beyond == nil, want.Revision > 0 && reached.Objects.To >= want.Revision:
		return base, then, nil
	default:
		return base, nil, fmt.Errorf("%w between revision %d, of %s, and %d: the last state before them is that of revision %d",
			ErrGap, reached.Objects.To, reached.Time.Format(time.RFC3339), beyond.Objects.From, reached.Objects.To)
	}
}

func chooseBase(all []Entry, want Target) (Entry, error) {
	full := snapshots(all)
	for _, e := range full {
		switch {
		case want.Name != "" && e.Name != want.Name,
			!want.Time.IsZero() && e.Time.After(want.Time),
			want.Revision > 0 && e.Objects.To > want.Revision:
			continue
		}

		return e, nil
	}
	switch {
	case want.Name != "":
		return Entry{}, fmt.Errorf("snapshot %q: %w", want.Name, ErrNotFound)
	case len(full) > 0:
		return Entry{}, fmt.Errorf("%w from before that moment: the oldest one is %q", ErrNotFound, full[len(full)-1].Name)
	default:
		return Entry{}, ErrNotFound
	}
}

// SPDX-License-Identifier: Apache-2.0

package backup

import "time"

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Retention says what is kept.
type Retention struct {
	// Keep is the number of newest snapshots that are always kept.
	Keep int
	// Window is how far back a restore to any time is possible: from the newest snapshot that is as old as that, all are kept, and
	// all increments after it.
	Window time.Duration
}

// surplus returns the files that are no longer needed. Beyond the newest snapshots it keeps the last one of each of the past
// hours of a day, days of a week, and weeks of a month, as BAK-GC-1 says for the backups of shoots.
func (r Retention) surplus(all []Entry, now time.Time) []Entry {
	full := snapshots(all)
	if len(full) == 0 {
		return nil
	}
	base := r.base(full, now)
	old := exponential(full, max(r.Keep, base+1), now)
	for _, e := range increments(all) {
		if e.Objects.To <= full[base].Objects.To && e.Events.To <= full[base].Events.To {
			old = append(old, e)
		}
	}

	return old
}

// base is the snapshot from which the oldest moment in the window is restored: the newest one from before that moment, else the
// oldest of all.
func (r Retention) base(full []Entry, now time.Time) int {
	for i, e := range full {
		if !e.Time.After(now.Add(-r.Window)) {
			return i
		}
	}

	return len(full) - 1
}

// exponential goes from the newest snapshot to the oldest, and returns those that are not the last of their hour, day or week.
// Weeks are those of the calendar: weeks that are counted back from today begin on another day tomorrow, so that each snapshot
// would some day not be the last of its week.
func exponential(full []Entry, keep int, now time.Time) []Entry {
	var old []Entry
	for i := keep; i < len(full); i++ {
		if !last(full[i].Time, full[i-1].Time, now) {
			old = append(old, full[i])
		}
	}

	return old
}

// last reports whether a snapshot is the last one of its hour, day or week; which of them depends on its age.
func last(older, newer, now time.Time) bool {
	differs := func(unit time.Duration) bool { return !older.Truncate(unit).Equal(newer.Truncate(unit)) }
	switch age := endOfDay(now).Sub(older); {
	case age < day:
		return older.Truncate(time.Hour).Equal(now.Truncate(time.Hour)) || differs(time.Hour)
	case age < 8*day:
		return differs(day)
	case age < 5*week:
		return differs(week)
	default:
		return false
	}
}

func endOfDay(now time.Time) time.Time {
	year, month, date := now.UTC().Date()

	return time.Date(year, month, date, 23, 59, 59, 0, time.UTC)
}

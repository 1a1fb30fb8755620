// SPDX-License-Identifier: Apache-2.0

// Package schedule computes from the hibernation schedules of a shoot when it is put to sleep and when it is woken up. It knows no clock and
// changes nothing.
package schedule

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

var errNotValid = errors.New("is not valid")

// Set is the times at which a shoot is put to sleep and woken up, in the order in which they are listed.
type Set []moments

// moments are the times of one cron expression in one time zone.
type moments struct {
	cron.Schedule

	zone  *time.Location
	sleep bool
	// daily says that the expression names hours of the day, and not a period.
	daily bool
}

// after returns the first of the times after a given one; it is zero if there is none. A period goes on through changes of the clock. An hour of
// the day comes once on each day, also where the clock skips or repeats it: the expression is read on a calendar that knows no changes.
func (m moments) after(t time.Time) time.Time {
	if !m.daily {
		return m.Next(t.In(m.zone))
	}
	for wall := m.Next(shown(t.In(m.zone))); !wall.IsZero(); wall = m.Next(wall) {
		if at := reached(wall, m.zone); at.After(t) {
			return at
		}
	}
	return time.Time{}
}

// shown is what a clock shows at a time, as if it were UTC.
func shown(t time.Time) time.Time { return in(t, time.UTC) }

// in is the time with the same date and time of the day in another zone.
func in(t time.Time, zone *time.Location) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
}

// reached is the first time at which the clock of a zone shows what is wanted, or more: the change of the clock if that skips it, and the first of
// two times if the clock goes back. A later time on the clock is never reached earlier.
func reached(wall time.Time, zone *time.Location) time.Time {
	at := in(wall, zone) // It is not said which of two this is, nor on which side of a gap.
	begin, end := at.ZoneBounds()
	switch difference := shown(at).Sub(wall); {
	case difference > 0:
		return begin
	case difference < 0:
		return end
	case begin.IsZero():
		return at
	}
	_, offset := begin.Add(-time.Nanosecond).Zone()
	if first := wall.Add(-time.Duration(offset) * time.Second); first.Before(begin) {
		return first.In(zone)
	}
	return at
}

// daily reports whether a valid cron expression names its hours.
func daily(spec string) bool {
	fields := strings.Fields(spec)
	return len(fields) > 1 && !strings.ContainsAny(fields[1], "*?")
}

// Parse reads the schedules of a shoot; the zone of one without a location is UTC (GCM-HIBER-2).
func Parse(listed []gardencorev1beta1.HibernationSchedule) (Set, error) {
	var all Set
	zones := map[string]*time.Location{}
	for _, s := range listed {
		name := "UTC"
		if s.Location != nil {
			name = *s.Location
		}
		if zones[name] == nil {
			zone, ok := validation.TimeZone(name)
			if !ok {
				return nil, fmt.Errorf("location %q %w", name, errNotValid)
			}
			zones[name] = zone
		}
		for _, one := range []struct {
			spec  *string
			sleep bool
		}{{s.Start, true}, {s.End, false}} {
			if one.spec == nil {
				continue
			}
			times, ok := validation.Cron(*one.spec)
			if !ok {
				return nil, fmt.Errorf("cron expression %q %w", *one.spec, errNotValid)
			}
			all = append(all, moments{Schedule: times, zone: zones[name], sleep: one.sleep, daily: daily(*one.spec)})
		}
	}
	return all, nil
}

// Last returns what the most recent time after since and up to now wants, and whether there is one. Of two equal times the one
// that is listed first decides (GCM-HIBER-3).
func (s Set) Last(since, now time.Time) (sleep, found bool) {
	var latest time.Time
	for _, m := range s {
		for t := m.after(since); !t.IsZero() && !t.After(now); t = m.after(t) {
			if t.After(latest) {
				latest, sleep, found = t, m.sleep, true
			}
		}
	}
	return sleep, found
}

// Next returns the next time of all schedules; it is zero if there is none.
func (s Set) Next(now time.Time) time.Time {
	var next time.Time
	for _, m := range s {
		if t := m.after(now); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

// After returns all times after a given one in their order, each with what it wants. Of equal times there is one: that which is listed first.
func (s Set) After(begin time.Time) iter.Seq2[time.Time, bool] {
	return func(yield func(at time.Time, sleep bool) bool) {
		next := make([]time.Time, len(s))
		for i, m := range s {
			next[i] = m.after(begin)
		}
		for {
			first := -1
			for i, t := range next {
				if !t.IsZero() && (first < 0 || t.Before(next[first])) {
					first = i
				}
			}
			if first < 0 || !yield(next[first], s[first].sleep) {
				return
			}
			now := next[first]
			for i, m := range s {
				if next[i].Equal(now) {
					next[i] = m.after(now)
				}
			}
		}
	}
}

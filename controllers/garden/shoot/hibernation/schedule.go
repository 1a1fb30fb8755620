// SPDX-License-Identifier: Apache-2.0

package hibernation

import (
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

var errNotValid = errors.New("is not valid")

// Schedules are the times at which a shoot is put to sleep and woken up, in the order in which they are listed.
type Schedules []moments

// moments are the times of one cron expression in one time zone.
type moments struct {
	cron.Schedule

	zone  *time.Location
	sleep bool
}

// after returns the first of the times after a given one; it is zero if there is none.
func (m moments) after(t time.Time) time.Time { return m.Next(t.In(m.zone)) }

// Parse reads the schedules of a shoot; the zone of one without a location is UTC (GCM-HIBER-2).
func Parse(listed []gardencorev1beta1.HibernationSchedule) (Schedules, error) {
	var all Schedules
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
			all = append(all, moments{Schedule: times, zone: zones[name], sleep: one.sleep})
		}
	}
	return all, nil
}

// Last returns what the most recent time after since and up to now wants, and whether there is one. Of two equal times the one
// that is listed first decides (GCM-HIBER-3).
func (s Schedules) Last(since, now time.Time) (sleep, found bool) {
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
func (s Schedules) Next(now time.Time) time.Time {
	var next time.Time
	for _, m := range s {
		if t := m.after(now); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

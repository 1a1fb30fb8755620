// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/schedule"
)

func at(day, hour, minute, second int) time.Time {
	return time.Date(2026, 3, day, hour, minute, second, 0, time.UTC)
}

// nightly sleeps from the start to the end.
func nightly(start, end, zone string) gardencorev1beta1.HibernationSchedule {
	var s gardencorev1beta1.HibernationSchedule
	for text, field := range map[string]**string{start: &s.Start, end: &s.End, zone: &s.Location} {
		if text != "" {
			*field = &text
		}
	}
	return s
}

func TestSchedules(t *testing.T) {
	t.Parallel()
	type schedules = []gardencorev1beta1.HibernationSchedule
	for name, tc := range map[string]struct {
		reason     string
		schedules  schedules
		since, now time.Time
		want       string
		next       time.Time
	}{
		"GCM-HIBER-2 start":       {"it is time to sleep", schedules{nightly("0 20 * * *", "0 6 * * *", "")}, at(9, 19, 0, 0), at(9, 20, 0, 0), "sleep", at(10, 6, 0, 0)},
		"GCM-HIBER-2 end":         {"it is time to wake up", schedules{nightly("0 20 * * *", "0 6 * * *", "")}, at(10, 5, 0, 0), at(10, 6, 0, 1), "wake", at(10, 20, 0, 0)},
		"GCM-HIBER-2 too early":   {"a second is missing", schedules{nightly("0 20 * * *", "0 6 * * *", "")}, at(9, 19, 0, 0), at(9, 19, 59, 59), "", at(9, 20, 0, 0)},
		"GCM-HIBER-2 zone":        {"20:00 in Berlin is 19:00 in UTC in winter", schedules{nightly("0 20 * * *", "", "Europe/Berlin")}, at(9, 18, 30, 0), at(9, 19, 0, 0), "sleep", at(10, 19, 0, 0)},
		"GCM-HIBER-2 summer":      {"and 18:00 from the end of March on", schedules{nightly("0 20 * * *", "", "Europe/Berlin")}, at(28, 18, 30, 0), at(28, 19, 0, 0), "sleep", at(29, 18, 0, 0)},
		"GCM-HIBER-2 zones":       {"each in its own", schedules{nightly("0 20 * * *", "", "Asia/Tokyo"), nightly("", "0 20 * * *", "")}, at(9, 10, 0, 0), at(9, 11, 0, 0), "sleep", at(9, 20, 0, 0)},
		"GCM-HIBER-2 only end":    {"a schedule may only wake up", schedules{nightly("", "0 6 * * *", "")}, at(9, 5, 0, 0), at(9, 7, 0, 0), "wake", at(10, 6, 0, 0)},
		"GCM-HIBER-3 done":        {"what was done is not done again", schedules{nightly("0 20 * * *", "0 6 * * *", "")}, at(9, 20, 0, 0), at(9, 21, 0, 0), "", at(10, 6, 0, 0)},
		"GCM-HIBER-3 most recent": {"the last of several decides", schedules{nightly("0 20 * * *", "30 20 * * *", "")}, at(9, 19, 0, 0), at(9, 21, 0, 0), "wake", at(10, 20, 0, 0)},
		"GCM-HIBER-3 across":      {"also if it is of another schedule", schedules{nightly("30 20 * * *", "", ""), nightly("", "0 20 * * *", "")}, at(9, 19, 0, 0), at(9, 21, 0, 0), "sleep", at(10, 20, 0, 0)},
		"GCM-HIBER-3 often":       {"of one that comes often, too", schedules{nightly("*/10 * * * *", "5 20 * * *", "")}, at(9, 19, 0, 0), at(9, 20, 9, 0), "wake", at(9, 20, 10, 0)},
		"GCM-HIBER-3 first wins":  {"of two at the same time the first one", schedules{nightly("0 20 * * *", "", ""), nightly("", "0 20 * * 1", "")}, at(9, 19, 0, 0), at(9, 20, 0, 0), "sleep", at(10, 20, 0, 0)},
		"GCM-HIBER-3 order":       {"whichever that is", schedules{nightly("", "0 20 * * 1", ""), nightly("0 20 * * *", "", "")}, at(9, 19, 0, 0), at(9, 20, 0, 0), "wake", at(10, 20, 0, 0)},
		"GCM-HIBER-5 never":       {"there is no 30th of February", schedules{nightly("0 20 30 2 *", "", "")}, at(9, 19, 0, 0), at(9, 20, 0, 0), "", time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := schedule.Parse(tc.schedules)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if sleep, found := all.Last(tc.since, tc.now); found {
				got = map[bool]string{true: "sleep", false: "wake"}[sleep]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nLast(...) (-want +got):\n%s", tc.reason, diff)
			}
			first := time.Time{}
			for t := range all.After(tc.now) {
				first = t
				break
			}
			if !first.Equal(all.Next(tc.now)) {
				t.Errorf("%s\nthe first of After(...) is %s, and Next(...) %s", tc.reason, first, all.Next(tc.now))
			}
			if diff := cmp.Diff(tc.next, all.Next(tc.now).UTC(), cmp.Comparer(time.Time.Equal)); diff != "" {
				t.Errorf("%s\nNext(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAfter follows schedules through a day.
func TestAfter(t *testing.T) {
	t.Parallel()
	all, err := schedule.Parse([]gardencorev1beta1.HibernationSchedule{
		nightly("0 20 * * *", "0 6 * * *", ""), nightly("0 12,20 * * *", "0 13 * * *", ""), nightly("", "0 6,20 9 * *", ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for at, sleep := range all.After(at(9, 6, 0, 0)) {
		if len(got) == 5 {
			break
		}
		got = append(got, at.UTC().Format("2 15:04 ")+map[bool]string{true: "sleep", false: "wake"}[sleep])
	}
	want := []string{"9 12:00 sleep", "9 13:00 wake", "9 20:00 sleep", "10 06:00 wake", "10 12:00 sleep"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("After(...) (-want +got):\n%s", diff)
	}
}

// TestChangesOfTheClock: an hour of the day comes once on each day, whatever the clock does, and a period goes on.
func TestChangesOfTheClock_GCM_HIBER_2(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, spec, zone string
		// begin is the time after which the others are.
		begin string
		want  []string
	}{
		"BerlinSkipped": {
			"what is skipped comes when the clock is changed", "30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z",
			[]string{"2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"},
		},
		"BerlinRepeated": {
			"the first of two", "30 2 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z",
			[]string{"2026-10-24T02:30:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"},
		},
		"BerlinBetween": {"the second is none", "30 2 * * *", "Europe/Berlin", "2026-10-25T02:10:00+01:00", []string{"2026-10-26T02:30:00+01:00"}},
		"BerlinOnce":    {"it was not before", "30 2 25 10 *", "Europe/Berlin", "2026-10-25T02:20:00+02:00", []string{"2026-10-25T02:30:00+02:00", "2027-10-25T02:30:00+02:00"}},
		"BerlinEdges": {
			"hours around it", "0 1,2,3 * * *", "Europe/Berlin", "2026-03-29T00:30:00+01:00",
			[]string{"2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T01:00:00+02:00"},
		},
		"NewYorkSkipped": {
			"west of Greenwich as well", "30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"},
		},
		"NewYorkSkippedRange": {
			"once for all of it", "0,20,40 2-3 * * *", "America/New_York", "2026-03-08T01:50:00-05:00",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-08T03:20:00-04:00", "2026-03-08T03:40:00-04:00", "2026-03-09T02:00:00-04:00"},
		},
		"NewYorkRepeated": {
			"the first of two", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"},
		},
		"NewYorkBetween": {"the second is none", "30 1 * * *", "America/New_York", "2026-11-01T01:10:00-05:00", []string{"2026-11-02T01:30:00-05:00"}},
		"HalfAnHour":     {"gaps of all sizes", "10 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", []string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:10:00+11:00"}},
		"PeriodSkipped":  {"a period goes on", "0 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", []string{"2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"}},
		"PeriodRepeated": {"also twice", "0 */2 * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", []string{"2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"}},
		"WithoutChanges": {"UTC", "30 2 * * *", "", "2026-03-29T00:00:00Z", []string{"2026-03-29T02:30:00Z", "2026-03-30T02:30:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, err := schedule.Parse([]gardencorev1beta1.HibernationSchedule{nightly(tc.spec, "", tc.zone)})
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, tc.begin)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for range tc.want {
				at = all.Next(at)
				got = append(got, at.Format(time.RFC3339))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nNext(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSchedulesThatAreNone(t *testing.T) {
	t.Parallel()
	for reason, s := range map[string]gardencorev1beta1.HibernationSchedule{
		"a text":                     nightly("at noon", "", ""),
		"a time zone of the parser":  nightly("TZ=UTC 0 20 * * *", "", ""),
		"a zone that nobody knows":   nightly("0 20 * * *", "", "Mars/Crater"),
		"a path":                     nightly("0 20 * * *", "", "../../etc/passwd"),
		"a period instead of a time": nightly("@every 1s", "", ""),
	} {
		if all, err := schedule.Parse([]gardencorev1beta1.HibernationSchedule{s}); err == nil {
			t.Errorf("GCM-HIBER-1: %s: Parse(...) = %v, want an error", reason, all)
		}
	}
}

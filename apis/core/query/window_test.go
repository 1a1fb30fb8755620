// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func window(begin, end string) *gardencorev1beta1.ShootSpec {
	return &gardencorev1beta1.ShootSpec{Maintenance: &gardencorev1beta1.Maintenance{
		TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: begin, End: end},
	}}
}

func TestMaintenanceWindow(t *testing.T) {
	t.Parallel()
	day := func(d, hour, minute, second int) time.Time {
		return time.Date(2026, 3, d, hour, minute, second, 0, time.UTC)
	}
	for name, tc := range map[string]struct {
		reason     string
		begin, end string
		now        time.Time
		// from and to are the occurrence, in is whether now is in it.
		from, to time.Time
		in       bool
	}{
		"GCM-MAINT-1 inside":   {"the window is open", "030000+0000", "040000+0000", day(9, 3, 30, 0), day(9, 3, 0, 0), day(9, 3, 45, 0), true},
		"GCM-MAINT-1 reserve":  {"the last 15 minutes are left for what began", "030000+0000", "040000+0000", day(9, 3, 46, 0), day(10, 3, 0, 0), day(10, 3, 45, 0), false},
		"GCM-MAINT-2 begin":    {"the begin belongs to the window", "030000+0000", "040000+0000", day(9, 3, 0, 0), day(9, 3, 0, 0), day(9, 3, 45, 0), true},
		"GCM-MAINT-2 end":      {"so does the end", "030000+0000", "040000+0000", day(9, 3, 45, 0), day(9, 3, 0, 0), day(9, 3, 45, 0), true},
		"GCM-MAINT-2 before":   {"a second earlier it is closed", "030000+0000", "040000+0000", day(9, 2, 59, 59), day(9, 3, 0, 0), day(9, 3, 45, 0), false},
		"GCM-MAINT-2 midnight": {"a window ends on the next day", "233000+0000", "003000+0000", day(9, 0, 10, 0), day(8, 23, 30, 0), day(9, 0, 15, 0), true},
		"GCM-MAINT-2 evening":  {"and is open in the evening", "233000+0000", "003000+0000", day(9, 23, 30, 0), day(9, 23, 30, 0), day(10, 0, 15, 0), true},
		"GCM-MAINT-2 between":  {"but not at noon", "233000+0000", "003000+0000", day(9, 12, 0, 0), day(9, 23, 30, 0), day(10, 0, 15, 0), false},
		"GCM-MAINT-2 zone":     {"22:00 in Berlin is 21:00 in UTC", "220000+0100", "230000+0100", day(9, 21, 30, 0), day(9, 21, 0, 0), day(9, 21, 45, 0), true},
		"GCM-MAINT-2 east":     {"a zone moves the window to another day", "010000+0900", "020000+0900", day(9, 16, 10, 0), day(9, 16, 0, 0), day(9, 16, 45, 0), true},
		"GCM-MAINT-2 west":     {"and into the other direction", "220000-0500", "230000-0500", day(9, 3, 10, 0), day(9, 3, 0, 0), day(9, 3, 45, 0), true},
		"GCM-MAINT-2 zones":    {"begin and end may be in different zones", "220000+0000", "000000+0100", day(9, 22, 30, 0), day(9, 22, 0, 0), day(9, 22, 45, 0), true},
		"GCM-MAINT-2 all day":  {"equal ends mean the next day", "030000+0000", "030000+0000", day(9, 2, 0, 0), day(8, 3, 0, 0), day(9, 2, 45, 0), true},
		"GCM-MAINT-2 other":    {"the zone of the clock does not matter", "030000+0000", "040000+0000", day(9, 3, 30, 0).In(time.FixedZone("", -7*3600)), day(9, 3, 0, 0), day(9, 3, 45, 0), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ok := query.MaintenanceWindow(window(tc.begin, tc.end))
			if !ok {
				t.Fatalf("%s\nMaintenanceWindow(%s, %s): not valid", tc.reason, tc.begin, tc.end)
			}
			from, to := w.Occurrence(tc.now)
			if diff := cmp.Diff([]any{tc.from, tc.to, tc.in}, []any{from, to, w.Contains(tc.now)}); diff != "" {
				t.Errorf("%s\noccurrence and whether it contains %s (-want +got):\n%s", tc.reason, tc.now, diff)
			}
		})
	}
}

func TestMaintenanceWindowThatIsNone(t *testing.T) {
	t.Parallel()
	for reason, spec := range map[string]*gardencorev1beta1.ShootSpec{
		"no maintenance": {}, "no window": {Maintenance: &gardencorev1beta1.Maintenance{}},
		"no begin": window("", "040000+0000"), "no end": window("030000+0000", "4 o'clock"),
	} {
		if w, ok := query.MaintenanceWindow(spec); ok {
			t.Errorf("%s: MaintenanceWindow(...) = %v, want none", reason, w)
		}
		if w := query.MaintenanceTimes(spec); !w.Contains(now) || !w.Contains(now.Truncate(24*time.Hour)) || !w.Contains(now.Truncate(24*time.Hour).Add(-1)) {
			t.Errorf("%s: MaintenanceTimes(...) = %v does not contain every time", reason, w)
		}
	}
	spec := window("030000+0000", "040000+0000")
	if w, _ := query.MaintenanceWindow(spec); query.MaintenanceTimes(spec) != w {
		t.Errorf("MaintenanceTimes(...) = %v, want the window %v", query.MaintenanceTimes(spec), w)
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	w, _ := query.MaintenanceWindow(window("230000+0000", "010000+0000"))
	noon := time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)
	begin := noon.Add(11 * time.Hour)
	minutes := map[time.Duration]bool{}
	for day := range 300 {
		due := w.Due(noon, time.Time{}, string(rune('a'+day)))
		if due.Before(begin) || due.After(begin.Add(105*time.Minute)) {
			t.Fatalf("GCM-MAINT-1: due at %s, outside of the window that begins at %s", due, begin)
		}
		minutes[due.Sub(begin)] = true
	}
	if len(minutes) < 50 {
		t.Errorf("GCM-MAINT-1: 300 shoots share %d minutes, want them spread", len(minutes))
	}
	first := w.Due(noon, time.Time{}, "a")
	for reason, got := range map[string]bool{
		"the minute is the same whenever it is asked for":   w.Due(noon.Add(time.Hour), noon, "a").Equal(first),
		"also in the window, before the minute":             w.Due(begin, noon, "a").Equal(first),
		"and after it, if nothing was done yet":             w.Due(begin.Add(105*time.Minute), noon, "a").Equal(first),
		"what was done in the window is due the next day":   w.Due(begin.Add(105*time.Minute), begin, "a").After(begin.Add(24*time.Hour - 1)),
		"what was not done in the window waits for a day":   w.Due(begin.Add(106*time.Minute), noon, "a").After(begin.Add(24*time.Hour - 1)),
		"what was done before the window is due in it":      w.Due(begin, begin.Add(-1), "a").Equal(first),
		"what was done by a clock that is ahead is not due": w.Due(begin, begin.Add(50*time.Hour), "a").After(begin.Add(24*time.Hour - 1)),
	} {
		if !got {
			t.Errorf("GCM-MAINT-1: %s", reason)
		}
	}
	days := map[time.Duration]bool{}
	for day := range 20 {
		noon := noon.Add(time.Duration(day) * 24 * time.Hour)
		days[w.Due(noon, time.Time{}, "a").Sub(noon)] = true
	}
	if len(days) < 5 {
		t.Errorf("GCM-MAINT-1: a shoot has %d different minutes on 20 days, want a new one each day", len(days))
	}
}

// TestDailyTime spells out what a checksum gives, because times must not move with a new version: CRC-32/IEEE
// of the text "a" is 3904355907, of "b" 1908338681 and of "c" 112844655.
func TestDailyTime(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 3, 9, 14, 37, 59, 0, time.FixedZone("", 2*3600))
	for name, tc := range map[string]struct {
		reason     string
		begin, end string
		uid        types.UID
		want       string
	}{
		"BAK-DEFRAG-2 hour":     {"the begin, and the checksum mod 60", "220000+0000", "230000+0000", "a", "22h27m0s"},
		"BAK-DEFRAG-2 another":  {"another shoot has another minute", "220000+0000", "230000+0000", "b", "22h41m0s"},
		"BAK-DEFRAG-2 whole":    {"up to the end of the window, which has no reserve here: the checksum mod 30", "220000+0000", "223000+0000", "a", "22h27m0s"},
		"BAK-DEFRAG-2 midnight": {"it may be on the next day", "234500+0000", "014500+0000", "c", "0s"},
		"BAK-DEFRAG-2 zone":     {"22:00 in Berlin is 21:00 in UTC", "220000+0100", "230000+0100", "a", "21h27m0s"},
		"BAK-DEFRAG-2 seconds":  {"there are no seconds", "220030+0000", "230030+0000", "a", "22h27m0s"},
		"BAK-DEFRAG-2 none":     {"without a window it is the time of creation", "", "", "a", "12h37m0s"},
		"BAK-DEFRAG-2 always":   {"likewise with one that is always open", "000000+0000", "235959+0000", "a", "12h37m0s"},
		"BAK-DEFRAG-2 all day":  {"or lasts until its begin", "030000+0000", "030000+0000", "a", "12h37m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created)}}
			shoot.Spec, shoot.Status.UID = *window(tc.begin, tc.end), tc.uid
			if tc.begin == "" {
				shoot.Spec.Maintenance = nil
			}
			if got := query.DailyTime(shoot).String(); got != tc.want {
				t.Errorf("%s\nDailyTime(...): got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

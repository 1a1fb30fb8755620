// SPDX-License-Identifier: Apache-2.0

package query

import (
	"hash/crc32"
	"hash/fnv"
	"strconv"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// WindowLayout is the form of the begin and the end of a maintenance time window.
const WindowLayout = "150405-0700"

const (
	wholeDay = 24 * time.Hour
	// reserve is the end of a maintenance time window in which nothing begins any more, because it would not be finished.
	reserve = 15 * time.Minute
)

// Window is a time of day in UTC that returns every day. Its begin and its end belong to it.
type Window struct{ begin, length time.Duration }

// MaintenanceTimes is when the maintenance of a shoot may begin: in its window or, if it has no valid one, at any time (GCM-MAINT-1).
func MaintenanceTimes(s *gardencorev1beta1.ShootSpec) Window {
	if w, valid := MaintenanceWindow(s); valid {
		return w
	}
	return Window{length: wholeDay - time.Nanosecond}
}

// MaintenanceWindow returns the time in which the maintenance of a shoot may begin: its maintenance time window without the last
// 15 minutes. It reports false if the shoot has no valid one (GCM-MAINT-1, 2).
func MaintenanceWindow(s *gardencorev1beta1.ShootSpec) (Window, bool) {
	w, valid := WholeMaintenanceWindow(s)
	if w.length > reserve {
		w.length -= reserve
	}
	return w, valid
}

// WholeMaintenanceWindow is the maintenance time window of a shoot up to its end, for what takes no time. It reports false if the shoot has no
// valid one.
func WholeMaintenanceWindow(s *gardencorev1beta1.ShootSpec) (Window, bool) {
	if s.Maintenance == nil || s.Maintenance.TimeWindow == nil {
		return Window{}, false
	}
	begin, err := time.Parse(WindowLayout, s.Maintenance.TimeWindow.Begin)
	if err != nil {
		return Window{}, false
	}
	end, err := time.Parse(WindowLayout, s.Maintenance.TimeWindow.End)
	if err != nil {
		return Window{}, false
	}
	length := end.Sub(begin) % wholeDay
	if length <= 0 {
		length += wholeDay
	}
	hour, minute, second := begin.UTC().Clock()
	since := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return Window{begin: since, length: length}, true
}

// Occurrence returns the begin and the end of the window on the day on which it contains a time or, if it does not, of the next
// one after it.
func (w Window) Occurrence(now time.Time) (begin, end time.Time) {
	begin = now.UTC().Truncate(wholeDay).Add(w.begin - wholeDay)
	for begin.Add(w.length).Before(now) {
		begin = begin.Add(wholeDay)
	}
	return begin, begin.Add(w.length)
}

// Contains reports whether a time is in the window.
func (w Window) Contains(now time.Time) bool {
	begin, _ := w.Occurrence(now)
	return !begin.After(now)
}

// Due returns when that which is done once in every window is to be done next, if it was last done at the given time. That is in
// the past if it is to be done at once, which is never so outside of the window. The minute is chosen anew for each day and each
// key, so that all that has the same window is spread over it, and is the same whenever it is asked for: nobody has to remember
// it.
func (w Window) Due(now, last time.Time, key string) time.Time {
	begin, end := w.Occurrence(now)
	if !last.Before(begin) {
		begin, _ = w.Occurrence(end.Add(time.Nanosecond))
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(key + strconv.FormatInt(begin.Unix(), 10))) // A hash never fails to write.
	minutes := max(int64(w.length/time.Minute), 1)                       // The last one is left to those who are a little late.
	return begin.Add(time.Duration(int64(hash.Sum64()>>1)%minutes) * time.Minute)
}

// DailyTime returns the time of day, in UTC and in whole minutes, at which is done for a shoot what is done once a day in its maintenance time
// window. A checksum of its UID spreads the shoots with the same window over it. Without a window, or with one that lasts the whole day, it is
// the time at which the shoot was created (BAK-DEFRAG-2).
func DailyTime(s *gardencorev1beta1.Shoot) time.Duration {
	w, valid := WholeMaintenanceWindow(&s.Spec)
	if !valid || w.length >= wholeDay-time.Second {
		hour, minute, _ := s.CreationTimestamp.UTC().Clock()
		return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	}
	minutes := max(int64(w.length/time.Minute), 1)
	offset := int64(crc32.ChecksumIEEE([]byte(s.Status.UID))) % minutes
	return (w.begin + time.Duration(offset)*time.Minute).Truncate(time.Minute) % wholeDay
}

// Confined reports whether changes of the spec of a shoot are rolled out in its maintenance time window only.
func Confined(s *gardencorev1beta1.ShootSpec) bool {
	m := s.Maintenance
	return m != nil && m.ConfineSpecUpdateRollout != nil && *m.ConfineSpecUpdateRollout
}

// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	minWindow   = 30 * time.Minute
	maxWindow   = 6 * time.Hour
	day         = 24 * time.Hour
	minRotation = 30 * time.Minute
	maxRotation = 90 * day
)

// maintenance checks the maintenance time window and the rotations in it (API-VALSHOOT-14).
func maintenance(m *gardencorev1beta1.Maintenance, path *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	errs := autoRotations(m.AutoRotation, path.Child("autoRotation", "credentials"))
	if m.TimeWindow == nil {
		return errs
	}
	here := path.Child("timeWindow")
	begin, wrong := windowTime(m.TimeWindow.Begin, here.Child("begin"))
	end, more := windowTime(m.TimeWindow.End, here.Child("end"))
	if wrong = append(wrong, more...); len(wrong) > 0 {
		return append(errs, wrong...)
	}
	length := (end.Sub(begin)%day + day) % day
	if length < minWindow || length > maxWindow {
		errs = append(errs, field.Invalid(here, length.String(), fmt.Sprintf("must last between %s and %s", minWindow, maxWindow)))
	}
	return errs
}

// autoRotations checks the periods of automatic rotations; a period of zero disables one.
func autoRotations(r *gardencorev1beta1.MaintenanceAutoRotation, path *field.Path) field.ErrorList {
	if r == nil || r.Credentials == nil {
		return nil
	}
	var errs field.ErrorList
	for _, one := range []struct {
		name   string
		config *gardencorev1beta1.MaintenanceRotationConfig
	}{
		{"etcdEncryptionKey", r.Credentials.ETCDEncryptionKey},
		{"observability", r.Credentials.Observability},
		{"sshKeypair", r.Credentials.SSHKeypair},
	} {
		if one.config == nil || one.config.RotationPeriod == nil || one.config.RotationPeriod.Duration == 0 {
			continue
		}
		errs = append(errs, between(one.config.RotationPeriod, minRotation, maxRotation, path.Child(one.name, "rotationPeriod"))...)
	}
	return errs
}

func windowTime(value string, path *field.Path) (time.Time, field.ErrorList) {
	t, err := time.Parse(query.WindowLayout, value)
	if err != nil {
		return t, field.ErrorList{field.Invalid(path, value, "must have the form HHMMSS+ZZZZ, such as 220000+0100")}
	}
	return t, nil
}

// hibernationSchedules checks schedules (API-VALSHOOT-15). No two times are the same, because a shoot cannot be hibernated
// and woken up at once.
func hibernationSchedules(h *gardencorev1beta1.Hibernation, path *field.Path) field.ErrorList {
	if h == nil {
		return nil
	}
	if len(h.Schedules) > maxSchedules {
		return field.ErrorList{field.TooMany(path, len(h.Schedules), maxSchedules)}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, s := range h.Schedules {
		here := path.Index(i)
		if s.Start == nil && s.End == nil {
			errs = append(errs, field.Required(here.Child("start/end"), "a schedule must have a start, an end or both"))
		}
		for _, moment := range []struct {
			name string
			spec *string
		}{{"start", s.Start}, {"end", s.End}} {
			switch {
			case moment.spec == nil:
			case !isCron(*moment.spec):
				message := "must be a cron expression of five fields, such as 0 20 * * *"
				errs = append(errs, field.Invalid(here.Child(moment.name), *moment.spec, message))
			case seen[*moment.spec]:
				errs = append(errs, field.Duplicate(here.Child(moment.name), *moment.spec))
			default:
				seen[*moment.spec] = true
			}
		}
		if s.Location != nil && !isTimeZone(*s.Location) {
			errs = append(errs, field.Invalid(here.Child("location"), *s.Location, "is not a known time zone"))
		}
	}
	return errs
}

func isCron(text string) bool {
	_, ok := Cron(text)
	return ok
}

// Cron parses a cron expression of five fields. A text with a leading time zone, which the parser supports, is rejected before:
// some of them make the parser panic, and a schedule has its own field for the time zone.
func Cron(text string) (cron.Schedule, bool) {
	if strings.Contains(text, "TZ=") || strings.HasPrefix(strings.TrimSpace(text), "@") {
		return nil, false
	}
	times, err := cron.ParseStandard(text)
	return times, err == nil
}

func isTimeZone(name string) bool {
	_, ok := TimeZone(name)
	return ok
}

// TimeZone returns the time zone with a name. Such names are short and are not paths of files.
func TimeZone(name string) (*time.Location, bool) {
	const longest = 64
	if len(name) > longest {
		return nil, false
	}
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), true //nolint:forcetypeassert // Nothing else is stored.
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	// The ways to write a path have no end.
	if path.Clean(name) == name {
		zones.Store(name, zone)
	}
	return zone, true
}

// zones are the time zones that were asked for, by their names: each would be read from its file every time. There are some hundred.
//
//nolint:gochecknoglobals // They belong to the machine.
var zones sync.Map

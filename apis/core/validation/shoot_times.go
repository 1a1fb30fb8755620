// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	windowLayout = "150405-0700"
	minWindow    = 30 * time.Minute
	maxWindow    = 6 * time.Hour
	day          = 24 * time.Hour
)

// maintenance checks the maintenance time window (API-VALSHOOT-14).
func maintenance(m *gardencorev1beta1.Maintenance, path *field.Path) field.ErrorList {
	if m == nil || m.TimeWindow == nil {
		return nil
	}
	here := path.Child("timeWindow")
	begin, errs := windowTime(m.TimeWindow.Begin, here.Child("begin"))
	end, more := windowTime(m.TimeWindow.End, here.Child("end"))
	errs = append(errs, more...)
	if len(errs) > 0 {
		return errs
	}
	length := (end.Sub(begin)%day + day) % day
	if length < minWindow || length > maxWindow {
		return field.ErrorList{field.Invalid(here, length.String(), fmt.Sprintf("must last between %s and %s", minWindow, maxWindow))}
	}
	return nil
}

func windowTime(value string, path *field.Path) (time.Time, field.ErrorList) {
	t, err := time.Parse(windowLayout, value)
	if err != nil {
		return t, field.ErrorList{field.Invalid(path, value, "must have the form HHMMSS+ZZZZ, such as 220000+0100")}
	}
	return t, nil
}

// hibernationSchedules checks schedules (API-VALSHOOT-15).
func hibernationSchedules(h *gardencorev1beta1.Hibernation, path *field.Path) field.ErrorList {
	if h == nil {
		return nil
	}
	var errs field.ErrorList
	var seen []string
	for i, s := range h.Schedules {
		here := path.Index(i)
		if s.Start == nil && s.End == nil {
			errs = append(errs, field.Required(here, "a schedule has a start, an end, or both"))
		}
		for _, moment := range []struct {
			name string
			spec *string
		}{{"start", s.Start}, {"end", s.End}} {
			if moment.spec == nil {
				continue
			}
			errs = append(errs, cronSpec(*moment.spec, here.Child(moment.name))...)
			key := moment.name + " " + *moment.spec
			if slices.Contains(seen, key) {
				errs = append(errs, field.Duplicate(here.Child(moment.name), *moment.spec))
			}
			seen = append(seen, key)
		}
		if s.Location != nil {
			if _, err := time.LoadLocation(*s.Location); err != nil {
				errs = append(errs, field.Invalid(here.Child("location"), *s.Location, "is no known time zone"))
			}
		}
	}
	return errs
}

func cronSpec(value string, path *field.Path) field.ErrorList {
	if _, err := cron.ParseStandard(value); err != nil || strings.HasPrefix(value, "@") {
		return field.ErrorList{field.Invalid(path, value, "must be a cron expression of five fields, such as 0 20 * * *")}
	}
	return nil
}

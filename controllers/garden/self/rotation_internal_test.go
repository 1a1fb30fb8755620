// SPDX-License-Identifier: Apache-2.0

package self

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNext(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(hours int) *metav1.Time { return new(metav1.NewTime(now.Add(time.Duration(hours) * time.Hour))) }
	since := now.Add(-2 * time.Hour)
	for name, tc := range map[string]struct {
		reason string
		have   record
		is     *Rotation
		want   record
	}{
		"never":      {"nothing has ever been rotated", record{}, &Rotation{}, record{}},
		"unknown":    {"what is not known stays", record{phase: "Prepared"}, nil, record{phase: "Prepared"}},
		"preparing":  {"a rotation is seen", record{}, &Rotation{"Preparing", since}, record{phase: "Preparing", started: at(-2)}},
		"prepared":   {"it is prepared", record{phase: "Preparing", started: at(-2)}, &Rotation{"Prepared", since}, record{phase: "Prepared", started: at(-2), prepared: at(0)}},
		"still":      {"times stay", record{phase: "Prepared", started: at(-2), prepared: at(-1)}, &Rotation{"Prepared", since}, record{phase: "Prepared", started: at(-2), prepared: at(-1)}},
		"completing": {"it is being completed", record{phase: "Prepared", started: at(-2), prepared: at(-1)}, &Rotation{"Completing", since}, record{phase: "Completing", started: at(-2), prepared: at(-1), triggered: at(0)}},
		"completed": {
			"OPER-REC-5: it is complete",
			record{phase: "Completing", started: at(-2), prepared: at(-1), triggered: at(-1)},
			&Rotation{},
			record{phase: "Completed", started: at(-2), completedAt: at(0)},
		},
		"rests":   {"what is complete stays so", record{phase: "Completed", completedAt: at(-9)}, &Rotation{}, record{phase: "Completed", completedAt: at(-9)}},
		"again":   {"the next one begins", record{phase: "Completed", started: at(-30), completedAt: at(-9)}, &Rotation{"Prepared", since}, record{phase: "Prepared", started: at(-2), prepared: at(0), completedAt: at(-9)}},
		"another": {"one that begins between two looks is not the one before", record{phase: "Prepared", started: at(-30), prepared: at(-29)}, &Rotation{"Prepared", since}, record{phase: "Prepared", started: at(-2), prepared: at(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.have.next(tc.is, now), cmp.AllowUnexported(record{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

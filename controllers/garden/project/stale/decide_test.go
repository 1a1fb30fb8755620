// SPDX-License-Identifier: Apache-2.0

package stale_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/stale"
)

// day is the beginning of a day.
func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }

func stamp(n int) *metav1.Time { return new(metav1.NewTime(day(n))) }

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

func TestActive(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		created  int
		activity *metav1.Time
		now      time.Time
		want     bool
	}{
		"GCM-STALE-3 young":        {reason: "the project is younger than the minimum", created: 1, now: day(31).Add(-time.Second), want: true},
		"GCM-STALE-3 old":          {reason: "the minimum is over, and nothing ever happened", created: 1, now: day(31)},
		"GCM-STALE-3 active":       {reason: "something happened in it not long ago", created: 1, activity: stamp(10), now: day(40).Add(-time.Second), want: true},
		"GCM-STALE-3 idle":         {reason: "nothing has happened in it for long", created: 1, activity: stamp(10), now: day(40)},
		"GCM-STALE-3 former life":  {reason: "an activity before its creation does not make it older", created: 10, activity: stamp(1), now: day(39), want: true},
		"GCM-STALE-3 clock behind": {reason: "an activity from a clock that is ahead is an activity", created: 1, activity: stamp(60), now: day(50), want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: *stamp(tc.created)}}
			project.Status.LastActivityTimestamp = tc.activity
			if got := stale.Active(project, days(30), tc.now); got != tc.want {
				t.Errorf("%s\nActive(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestExempt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		namespace string
		value     string
		want      bool
	}{
		"GCM-STALE-3 exempted": {reason: "an operator said so", namespace: "garden-dev", value: "true", want: true},
		"GCM-STALE-3 not":      {reason: "an operator said the opposite", namespace: "garden-dev", value: "false"},
		"GCM-STALE-3 typo":     {reason: "what is no boolean says nothing", namespace: "garden-dev", value: "yes please"},
		"GCM-STALE-3 usual":    {reason: "nobody said anything", namespace: "garden-dev"},
		"GCM-STALE-3 garden":   {reason: "the garden's own project is used by the garden", namespace: "garden", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tc.namespace}}
			if tc.value != "" {
				namespace.Annotations = map[string]string{"project.gardener.cloud/skip-stale-check": tc.value}
			}
			if got := stale.Exempt(namespace); got != tc.want {
				t.Errorf("%s\nExempt(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	usual := stale.Periods{Grace: days(14), Expiration: days(90)}
	for name, tc := range map[string]struct {
		reason        string
		since, end    *metav1.Time
		stale         bool
		periods       stale.Periods
		now           time.Time
		wantSince     *metav1.Time
		wantEnd       *metav1.Time
		wantDeletable bool
	}{
		"GCM-STALE-5 begins":      {reason: "it is noted when it became stale", stale: true, now: day(1).Add(300 * time.Millisecond), wantSince: stamp(1)},
		"GCM-STALE-5 grace":       {reason: "in the grace period no deletion is announced", since: stamp(1), stale: true, now: day(15).Add(-time.Second), wantSince: stamp(1)},
		"GCM-STALE-5 announced":   {reason: "after it the deletion is announced", since: stamp(1), stale: true, now: day(15), wantSince: stamp(1), wantEnd: stamp(91)},
		"GCM-STALE-5 stays":       {reason: "the time of deletion does not move", since: stamp(1), end: stamp(91), stale: true, now: day(90), wantSince: stamp(1), wantEnd: stamp(91)},
		"GCM-STALE-5 later":       {reason: "an existing later time is kept", since: stamp(1), end: stamp(200), stale: true, now: day(100), wantSince: stamp(1), wantEnd: stamp(200)},
		"GCM-STALE-5 prolonged":   {reason: "an earlier time grows with the period", since: stamp(1), end: stamp(30), stale: true, now: day(20), wantSince: stamp(1), wantEnd: stamp(91)},
		"GCM-STALE-5 grace grows": {reason: "in a longer grace period nothing is announced any more", since: stamp(1), end: stamp(91), stale: true, periods: stale.Periods{Grace: days(30), Expiration: days(90)}, now: day(20), wantSince: stamp(1)},
		"GCM-STALE-3 used again":  {reason: "both times go", since: stamp(1), end: stamp(91), now: day(100)},
		"GCM-STALE-3 never stale": {reason: "nothing is noted", now: day(1)},
		"GCM-STALE-6 over":        {reason: "the time has come", since: stamp(1), end: stamp(91), stale: true, now: day(91), wantSince: stamp(1), wantEnd: stamp(91), wantDeletable: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			periods := tc.periods
			if periods == (stale.Periods{}) {
				periods = usual
			}
			status := &gardencorev1beta1.ProjectStatus{StaleSinceTimestamp: tc.since, StaleAutoDeleteTimestamp: tc.end}
			stale.Note(status, tc.stale, periods, tc.now)
			want := &gardencorev1beta1.ProjectStatus{StaleSinceTimestamp: tc.wantSince, StaleAutoDeleteTimestamp: tc.wantEnd}
			if diff := cmp.Diff(want, status); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got := stale.Due(status, tc.now); got != tc.wantDeletable {
				t.Errorf("%s\nDue(...) = %t, want %t", tc.reason, got, tc.wantDeletable)
			}
		})
	}
}

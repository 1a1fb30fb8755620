// SPDX-License-Identifier: Apache-2.0

package defragment_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTimes is about an etcd that nobody reaches, so that each attempt is one of several.
func TestTimes(t *testing.T) {
	t.Parallel()
	scheduled := func(text string) func(*appsv1.StatefulSet) {
		return func(set *appsv1.StatefulSet) {
			set.Annotations["etcd.terrarium.garden/defragmentation-schedule"] = text
		}
	}
	replicas := func(number int32) func(*appsv1.StatefulSet) {
		return func(set *appsv1.StatefulSet) { set.Spec.Replicas = &number }
	}
	for name, tc := range map[string]struct {
		reason string
		after  time.Duration
		change func(*appsv1.StatefulSet)
		want   time.Duration
		fails  bool
	}{
		"BAK-DEFRAG-1 before":     {reason: "it waits for its time", after: -90 * time.Minute, want: 90 * time.Minute},
		"BAK-DEFRAG-1 zone":       {reason: "which is in UTC", change: scheduled("0 2 * * *"), want: 2 * time.Hour},
		"BAK-DEFRAG-1 now":        {reason: "it is time", want: time.Minute},
		"BAK-DEFRAG-4 retry":      {reason: "an attempt fails in each minute", after: 59 * time.Minute, want: time.Minute},
		"BAK-DEFRAG-4 patience":   {reason: "until an hour has passed", after: time.Hour, want: 23 * time.Hour},
		"BAK-DEFRAG-4 hibernated": {reason: "one that sleeps has no members, and nothing to return", change: replicas(0), want: 24 * time.Hour},
		"BAK-DEFRAG-4 deleted": {reason: "one that goes away has nothing to return", want: 24 * time.Hour, change: func(set *appsv1.StatefulSet) {
			set.DeletionTimestamp, set.Finalizers = &metav1.Time{Time: midnight()}, []string{"foregroundDeletion"}
		}},
		"BAK-DEFRAG-3 often": {reason: "an operator may want it every ten minutes", after: 5 * time.Minute, change: scheduled("*/10 * * * *"), want: time.Minute},
		"BAK-DEFRAG-3 never": {reason: "or never", change: scheduled("0 0 30 2 *")},
		"BAK-DEFRAG-3 other": {reason: "a StatefulSet without a schedule is none of ours", change: func(set *appsv1.StatefulSet) { set.Annotations = nil }},
		"BAK-DEFRAG-3 wrong": {reason: "nobody can read it", change: scheduled("at night"), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, midnight().Add(tc.after), 1)
			if tc.change != nil {
				s.change(t, tc.change)
			}
			result, err := s.Reconcile(t.Context(), request())
			if (err != nil) != tc.fails || result.RequeueAfter != tc.want {
				t.Errorf("%s\nReconcile(...): again after %s, error %v; want %s", tc.reason, result.RequeueAfter, err, tc.want)
			}
		})
	}
}

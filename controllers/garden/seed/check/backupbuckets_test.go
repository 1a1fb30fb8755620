// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/check"
)

type bucket = gardencorev1beta1.BackupBucket

func named(name string, change ...func(*bucket)) bucket {
	b := bucket{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateSucceeded}
	for _, c := range change {
		c(&b)
	}
	return b
}

func broken(b *bucket) {
	b.Status.LastError = &gardencorev1beta1.LastError{Description: "no credentials"}
}

func untouched(b *bucket) { b.Status.LastOperation = nil }

func TestJudgeBackupBuckets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		noBackup bool
		buckets  []bucket
		want     *gardencorev1beta1.Condition
	}{
		"GCM-SEEDBB-2 no backups": {reason: "a seed without backups is not judged by them", noBackup: true},
		"GCM-SEEDBB-2 gone": {
			reason: "backups are wanted and there is no bucket",
			want: &gardencorev1beta1.Condition{
				Status: "Unknown", Reason: "BackupBucketsGone", Codes: []gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"},
				Message: "The seed has no backups: its gardenlet has not created a backup bucket",
			},
		},
		"GCM-SEEDBB-2 untouched": {
			reason:  "a bucket that nobody acts upon is none",
			buckets: []bucket{named("a"), named("c", untouched), named("b", untouched)},
			want: &gardencorev1beta1.Condition{
				Status: "Unknown", Reason: "BackupBucketsGone", Codes: []gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"},
				Message: "The seed has no backups: no gardenlet has acted on backup bucket b, c",
			},
		},
		"GCM-SEEDBB-2 error": {
			reason:  "every bucket with an error is named, an error weighs most",
			buckets: []bucket{named("c", broken), named("a", broken), named("b"), named("d", untouched)},
			want:    &gardencorev1beta1.Condition{Status: "False", Reason: "BackupBucketsError", Message: "a: no credentials; c: no credentials"},
		},
		"GCM-SEEDBB-2 available": {
			reason:  "all is well",
			buckets: []bucket{named("a"), named("b")},
			want:    &gardencorev1beta1.Condition{Status: "True", Reason: "BackupBucketsAvailable", Message: "All backup buckets of the seed are available"},
		},
		"GCM-SEEDBB-2 bucket without backups": {
			reason:   "a seed is judged by the buckets that it has",
			noBackup: true, buckets: []bucket{named("a", broken)},
			want: &gardencorev1beta1.Condition{Status: "False", Reason: "BackupBucketsError", Message: "a: no credentials"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := &gardencorev1beta1.Seed{}
			if !tc.noBackup {
				seed.Spec.Backup = &gardencorev1beta1.Backup{Provider: "cloud"}
			}
			if tc.want != nil {
				tc.want.Type = "BackupBucketsReady"
			}
			if diff := cmp.Diff(tc.want, check.JudgeBackupBuckets(seed, tc.buckets)); diff != "" {
				t.Errorf("%s\nJudgeBackupBuckets (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

type expirable = gardencorev1beta1.ExpirableVersion

var now = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func at(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(d)} }

func stage(class gardencorev1beta1.VersionClassification, begin *metav1.Time) gardencorev1beta1.LifecycleStage {
	return gardencorev1beta1.LifecycleStage{Classification: class, StartTime: begin}
}

func TestStage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		version expirable
		want    gardencorev1beta1.VersionClassification
	}{
		"API-VALCP-2 default":    {reason: "a version is supported unless it says else", want: "supported"},
		"API-VALCP-2 classified": {reason: "the classification counts", version: expirable{Classification: new(gardencorev1beta1.VersionClassificationPreview)}, want: "preview"},
		"API-VALCP-2 expired":    {reason: "a version expires at its date, not after it", version: expirable{ExpirationDate: at(0)}, want: "expired"},
		"API-VALCP-2 expires":    {reason: "a date to come changes nothing yet", version: expirable{ExpirationDate: at(time.Second)}, want: "supported"},
		"API-VALCP-2 life cycle": {
			reason: "the last stage that has begun counts",
			version: expirable{Lifecycle: []gardencorev1beta1.LifecycleStage{
				stage("preview", nil), stage("supported", at(-time.Hour)), stage("deprecated", at(time.Hour)), stage("expired", at(2*time.Hour)),
			}},
			want: "supported",
		},
		"API-VALCP-2 not begun": {
			reason:  "before its first stage a version is not there",
			version: expirable{Lifecycle: []gardencorev1beta1.LifecycleStage{stage("supported", at(time.Hour))}},
			want:    "unavailable",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := query.Stage(tc.version, now); got != tc.want {
				t.Errorf("%s\nStage(...) = %q, want %q", tc.reason, got, tc.want)
			}
			active := tc.want != "expired" && tc.want != "unavailable"
			if got := query.Active(tc.version, now); got != active {
				t.Errorf("%s\nActive(...) = %t, want %t", tc.reason, got, active)
			}
			if got := query.Expired(tc.version, now); got != (tc.want == "expired") {
				t.Errorf("%s\nExpired(...) = %t", tc.reason, got)
			}
		})
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	all := []expirable{
		{Version: "1.35.9"},
		{Version: "1.36.10", Classification: new(gardencorev1beta1.VersionClassificationDeprecated)},
		{Version: "1.36.9"},
		{Version: "1.36.2"},
		{Version: "1.37.0", Classification: new(gardencorev1beta1.VersionClassificationPreview)},
		{Version: "1.36.11", ExpirationDate: at(-time.Hour)},
		{Version: "1.3.0"},
	}
	for name, tc := range map[string]struct {
		reason, prefix string
		stages         []gardencorev1beta1.VersionClassification
		want           string
	}{
		"API-SMUT-4 any":    {reason: "versions are compared as numbers", stages: []gardencorev1beta1.VersionClassification{"supported"}, want: "1.36.9"},
		"API-SMUT-4 prefix": {reason: "a prefix ends at a dot: 1.3 is not 1.36", prefix: "1.3", stages: []gardencorev1beta1.VersionClassification{"supported"}, want: "1.3.0"},
		"API-SMUT-5 stages": {
			reason: "images may be deprecated, but never in preview or expired", prefix: "1",
			stages: []gardencorev1beta1.VersionClassification{"supported", "deprecated"}, want: "1.36.10",
		},
		"API-SMUT-4 none": {reason: "there may be none", prefix: "2", stages: []gardencorev1beta1.VersionClassification{"supported"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := query.Newest(all, tc.prefix, now, tc.stages...); got != tc.want {
				t.Errorf("%s\nNewest(%q) = %q, want %q", tc.reason, tc.prefix, got, tc.want)
			}
		})
	}
}

func TestPartial(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for _, v := range []string{"", "1", "1.36", "1.36.3", "1.36.3-alpha.1"} {
		got[v] = query.Partial(v)
	}
	want := map[string]bool{"": true, "1": true, "1.36": true, "1.36.3": false, "1.36.3-alpha.1": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a version of three parts leaves nothing open\nPartial (-want +got):\n%s", diff)
	}
}

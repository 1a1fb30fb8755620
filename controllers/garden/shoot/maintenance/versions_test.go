// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/maintenance"
)

func now() time.Time { return time.Date(2026, 3, 9, 3, 30, 0, 0, time.UTC) }

// versions are what a profile offers: names with their stage after a colon, if it is not supported.
func versions(list string) []gardencorev1beta1.ExpirableVersion {
	var all []gardencorev1beta1.ExpirableVersion
	for item := range strings.FieldsSeq(list) {
		name, stage, _ := strings.Cut(item, ":")
		v := gardencorev1beta1.ExpirableVersion{Version: name}
		switch stage {
		case "":
		case "expired":
			v.ExpirationDate = &metav1.Time{Time: now().Add(-time.Hour)}
		case "expiring":
			v.ExpirationDate = &metav1.Time{Time: now().Add(time.Hour)}
		case "unavailable":
			v.Lifecycle = []gardencorev1beta1.LifecycleStage{{Classification: "supported", StartTime: &metav1.Time{Time: now().Add(time.Hour)}}}
		default:
			v.Classification = new(gardencorev1beta1.VersionClassification(stage))
		}
		all = append(all, v)
	}
	return all
}

func TestNextKubernetes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason             string
		offered            string
		from, limit, force string
		want               string
		// fails says that a forced update fails.
		fails bool
	}{
		"GCM-MAINT-4 newest patch":     {reason: "the highest patch of the minor version", offered: "1.33.1 1.33.10 1.33.9 1.34.0", from: "1.33.1", want: "1.33.10"},
		"GCM-MAINT-4 up to date":       {reason: "another minor version is no automatic update", offered: "1.33.1 1.34.0", from: "1.33.1"},
		"GCM-MAINT-4 never lower":      {reason: "a version is never lowered", offered: "1.33.1 1.33.0", from: "1.33.1"},
		"GCM-MAINT-4 preview":          {reason: "a preview is for those who choose it", offered: "1.33.1 1.33.2:preview", from: "1.33.1"},
		"GCM-MAINT-4 unavailable":      {reason: "a version to come is not there yet", offered: "1.33.1 1.33.2:unavailable", from: "1.33.1"},
		"GCM-MAINT-4 expired":          {reason: "nothing is updated to an expired version without need", offered: "1.33.1 1.33.2:expired", from: "1.33.1"},
		"GCM-MAINT-4 expiring":         {reason: "a version that expires later is good for now", offered: "1.33.1 1.33.2:expiring", from: "1.33.1", want: "1.33.2"},
		"GCM-MAINT-4 supported first":  {reason: "a supported version is better than a higher deprecated one", offered: "1.33.1 1.33.2 1.33.3:deprecated", from: "1.33.1", want: "1.33.2"},
		"GCM-MAINT-4 deprecated":       {reason: "a deprecated one is better than none", offered: "1.33.1 1.33.3:deprecated 1.33.4:preview", from: "1.33.1", want: "1.33.3"},
		"GCM-MAINT-4 forced patch":     {reason: "a patch is enough if there is one", offered: "1.33.1:expired 1.33.2 1.34.0", from: "1.33.1", force: "yes", want: "1.33.2"},
		"GCM-MAINT-4 forced minor":     {reason: "otherwise the next minor version follows", offered: "1.33.1:expired 1.34.0 1.34.3 1.35.1", from: "1.33.1", force: "yes", want: "1.34.3"},
		"GCM-MAINT-4 not two minors":   {reason: "no minor version is left out", offered: "1.33.1:expired 1.35.1", from: "1.33.1", force: "yes", fails: true},
		"GCM-MAINT-4 expired minor":    {reason: "an expired one is better than standing still", offered: "1.33.1:expired 1.34.0:expired 1.34.1:expired", from: "1.33.1", force: "yes", want: "1.34.1"},
		"GCM-MAINT-4 not expired":      {reason: "but one that has not expired is better", offered: "1.33.1:expired 1.34.0:deprecated 1.34.1:expired", from: "1.33.1", force: "yes", want: "1.34.0"},
		"GCM-MAINT-4 deprecated minor": {reason: "the highest that has not expired, deprecated or not", offered: "1.33.1:expired 1.34.0 1.34.3:deprecated 1.34.4:preview", from: "1.33.1", force: "yes", want: "1.34.3"},
		"GCM-MAINT-4 no expired patch": {reason: "an expired patch does not help", offered: "1.33.1:expired 1.33.2:expired 1.34.0", from: "1.33.1", force: "yes", want: "1.34.0"},
		"GCM-MAINT-4 preview minor":    {reason: "nobody is forced to a preview", offered: "1.33.1:expired 1.34.0:preview", from: "1.33.1", force: "yes", fails: true},
		"GCM-MAINT-4 gone":             {reason: "a version that is not offered is replaced", offered: "1.33.4", from: "1.33.1", force: "yes", want: "1.33.4"},
		"GCM-MAINT-4 unreadable":       {reason: "what cannot be compared is left", offered: "1.33.4", from: "latest", force: "yes", fails: true},
		"GCM-MAINT-4 unreadable, auto": {reason: "and is no failure if nothing has to be done", offered: "1.33.4", from: "latest"},
		"GCM-MAINT-5 limit":            {reason: "nodes are never newer than the control plane", offered: "1.33.1 1.33.2 1.33.3", from: "1.33.1", limit: "1.33.2", want: "1.33.2"},
		"GCM-MAINT-5 limit reached":    {reason: "also if there are newer patches", offered: "1.33.1 1.33.3", from: "1.33.1", limit: "1.33.1"},
		"GCM-MAINT-5 forced limit":     {reason: "also if it has expired", offered: "1.33.1:expired 1.34.0 1.34.2", from: "1.33.1", limit: "1.34.1", force: "yes", want: "1.34.0"},
		"GCM-MAINT-5 forced, no limit": {reason: "and fails if there is none below", offered: "1.33.1:expired 1.34.2", from: "1.33.1", limit: "1.33.1", force: "yes", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, failure := maintenance.NextKubernetes(versions(tc.offered), tc.from, tc.limit, tc.force != "", now())
			if diff := cmp.Diff(tc.want, got); diff != "" || (failure != "") != tc.fails {
				t.Errorf("%s\nNextKubernetes(%s, from %s) (-want +got):\n%s\nfailure %q, want one: %t", tc.reason, tc.offered, tc.from, diff, failure, tc.fails)
			}
		})
	}
}

func TestNextImage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		offered  string
		from     string
		strategy string
		force    bool
		want     string
		fails    bool
	}{
		"GCM-MAINT-6 major is the default":  {reason: "the highest of all", offered: "1.0.0 1.2.0 2.1.3", from: "1.0.0", want: "2.1.3"},
		"GCM-MAINT-6 major":                 {reason: "the highest of all", offered: "1.0.0 1.2.0 2.1.3", from: "1.0.0", strategy: "major", want: "2.1.3"},
		"GCM-MAINT-6 minor":                 {reason: "the highest of the major version", offered: "1.0.0 1.2.0 1.2.4 2.1.3", from: "1.0.0", strategy: "minor", want: "1.2.4"},
		"GCM-MAINT-6 major, patch first":    {reason: "a patch comes before all others", offered: "1.0.0 1.0.7 1.2.0 2.1.3", from: "1.0.0", strategy: "major", want: "1.0.7"},
		"GCM-MAINT-6 default, patch first":  {reason: "also without a strategy", offered: "1.0.0 1.0.3 1.0.7 2.1.3", from: "1.0.0", want: "1.0.7"},
		"GCM-MAINT-6 minor, patch first":    {reason: "and before the other minor versions", offered: "1.0.0 1.0.7 1.2.4", from: "1.0.0", strategy: "minor", want: "1.0.7"},
		"GCM-MAINT-6 after the patch":       {reason: "then the rest of the way", offered: "1.0.0 1.0.7 2.1.3", from: "1.0.7", strategy: "major", want: "2.1.3"},
		"GCM-MAINT-6 deprecated patch":      {reason: "one that is deprecated is a patch, too", offered: "1.0.0 1.0.7:deprecated 2.1.3", from: "1.0.0", want: "1.0.7"},
		"GCM-MAINT-6 no good patch":         {reason: "one that has expired or is a preview is left out", offered: "1.0.0 1.0.7:expired 1.0.8:preview 2.1.3", from: "1.0.0", want: "2.1.3"},
		"GCM-MAINT-6 forced, patch first":   {reason: "a patch is enough if one is needed", offered: "1.0.0:expired 1.0.7 2.1.3", from: "1.0.0", strategy: "major", force: true, want: "1.0.7"},
		"GCM-MAINT-6 patch":                 {reason: "the highest of the minor version", offered: "1.0.0 1.0.7 1.2.0 2.1.3", from: "1.0.0", strategy: "patch", want: "1.0.7"},
		"GCM-MAINT-6 numbers":               {reason: "versions are numbers and not texts", offered: "1.0.9 1.0.10", from: "1.0.0", strategy: "patch", want: "1.0.10"},
		"GCM-MAINT-6 dates":                 {reason: "a version may have leading zeros", offered: "18.04.201906170 18.04.202001010", from: "18.04.201906170", strategy: "patch", want: "18.04.202001010"},
		"GCM-MAINT-6 supported first":       {reason: "a supported version is better than a higher deprecated one", offered: "1.0.0 1.2.0 2.1.3:deprecated", from: "1.0.0", want: "1.2.0"},
		"GCM-MAINT-6 preview":               {reason: "never a preview", offered: "1.0.0 2.0.0:preview", from: "1.0.0"},
		"GCM-MAINT-6 forced preview":        {reason: "not even if forced", offered: "1.0.0:expired 1.1.0:preview", from: "1.0.0", strategy: "patch", force: true, fails: true},
		"GCM-MAINT-6 patch stays":           {reason: "no step further without need", offered: "1.0.0 1.1.0", from: "1.0.0", strategy: "patch"},
		"GCM-MAINT-6 patch forced":          {reason: "the next minor version, with its highest patch", offered: "1.0.0:expired 1.2.0 1.2.1 1.3.0", from: "1.0.0", strategy: "patch", force: true, want: "1.2.1"},
		"GCM-MAINT-6 patch forced, near":    {reason: "a patch is nearer", offered: "1.0.0:expired 1.0.1 1.2.0", from: "1.0.0", strategy: "patch", force: true, want: "1.0.1"},
		"GCM-MAINT-6 patch past previews":   {reason: "a minor version with previews only is passed over", offered: "1.0.0:expired 1.1.0:preview 1.2.0", from: "1.0.0", strategy: "patch", force: true, want: "1.2.0"},
		"GCM-MAINT-6 patch, expired next":   {reason: "expired, but in the next minor version", offered: "1.0.0:expired 1.1.0:expired 1.1.2:expired 1.2.0", from: "1.0.0", strategy: "patch", force: true, want: "1.1.2"},
		"GCM-MAINT-6 patch, better in next": {reason: "one that has not expired is better", offered: "1.0.0:expired 1.1.0 1.1.2:expired", from: "1.0.0", strategy: "patch", force: true, want: "1.1.0"},
		"GCM-MAINT-6 patch, deprecated":     {reason: "the highest that has not expired, deprecated or not", offered: "1.0.0:expired 1.1.0 1.1.2:deprecated", from: "1.0.0", strategy: "patch", force: true, want: "1.1.2"},
		"GCM-MAINT-6 minor, deprecated":     {reason: "also in the next major version", offered: "1.0.0:expired 2.0.0 2.1.0:deprecated 2.2.0:expired", from: "1.0.0", strategy: "minor", force: true, want: "2.1.0"},
		"GCM-MAINT-6 patch, none left":      {reason: "an expired patch is no way out", offered: "1.0.0:expired 1.0.7:expired 1.1.0", from: "1.0.0", strategy: "patch", force: true, want: "1.1.0"},
		"GCM-MAINT-6 minor, none left":      {reason: "nor is an expired minor version", offered: "1.0.0:expired 1.5.0:expired 2.0.0", from: "1.0.0", strategy: "minor", force: true, want: "2.0.0"},
		"GCM-MAINT-6 patch, not major":      {reason: "the major version stays", offered: "1.0.0:expired 2.0.0", from: "1.0.0", strategy: "patch", force: true, fails: true},
		"GCM-MAINT-6 minor forced":          {reason: "the next major version, with its highest one", offered: "1.0.0:expired 3.0.0 3.1.2 4.0.0", from: "1.0.0", strategy: "minor", force: true, want: "3.1.2"},
		"GCM-MAINT-6 minor forced, near":    {reason: "a minor version is nearer", offered: "1.0.0:expired 1.5.0 2.0.0", from: "1.0.0", strategy: "minor", force: true, want: "1.5.0"},
		"GCM-MAINT-6 minor, none":           {reason: "there is nothing left", offered: "1.0.0:expired", from: "1.0.0", strategy: "minor", force: true, fails: true},
		"GCM-MAINT-6 major at its end":      {reason: "the image is at its end", offered: "1.0.0:expired 2.0.0:expired", from: "1.0.0", force: true, fails: true},
		"GCM-MAINT-6 major forced":          {reason: "the highest of all", offered: "1.0.0:expired 2.0.0", from: "1.0.0", force: true, want: "2.0.0"},
		"GCM-MAINT-6 unreadable":            {reason: "what cannot be compared is left", offered: "1.0.0", from: "night", force: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var strategy *gardencorev1beta1.MachineImageUpdateStrategy
			if tc.strategy != "" {
				strategy = new(gardencorev1beta1.MachineImageUpdateStrategy(tc.strategy))
			}
			got, failure := maintenance.NextImage(versions(tc.offered), tc.from, strategy, tc.force, now())
			if diff := cmp.Diff(tc.want, got); diff != "" || (failure != "") != tc.fails {
				t.Errorf("%s\nNextImage(%s, from %s, %s) (-want +got):\n%s\nfailure %q, want one: %t", tc.reason, tc.offered, tc.from, tc.strategy, diff, failure, tc.fails)
			}
		})
	}
}

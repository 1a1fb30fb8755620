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

func TestMerged(t *testing.T) {
	t.Parallel()
	end := new(metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)))
	version := func(name string, end *metav1.Time) gardencorev1beta1.ExpirableVersion {
		return gardencorev1beta1.ExpirableVersion{Version: name, ExpirationDate: end}
	}
	image := func(name string, versions ...gardencorev1beta1.ExpirableVersion) gardencorev1beta1.MachineImage {
		i := gardencorev1beta1.MachineImage{Name: name, UpdateStrategy: new(gardencorev1beta1.MachineImageUpdateStrategyMajor)}
		for _, v := range versions {
			i.Versions = append(i.Versions, gardencorev1beta1.MachineImageVersion{
				ExpirableVersion: v, Architectures: []string{"amd64"}, CRI: []gardencorev1beta1.CRI{{Name: "containerd"}},
			})
		}
		return i
	}
	machine := func(name, architecture string) gardencorev1beta1.MachineType {
		return gardencorev1beta1.MachineType{Name: name, Architecture: new(architecture), Usable: new(true)}
	}
	volume := func(name, class string) gardencorev1beta1.VolumeType {
		return gardencorev1beta1.VolumeType{Name: name, Class: class, Usable: new(true)}
	}
	parent := &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{
		Kubernetes:    gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{version("1.1.0", nil), version("1.2.0", nil)}},
		MachineImages: []gardencorev1beta1.MachineImage{image("a", version("1.0.0", nil))},
		MachineTypes:  []gardencorev1beta1.MachineType{machine("small", "amd64")},
		VolumeTypes:   []gardencorev1beta1.VolumeType{volume("slow", "standard")},
		CABundle:      new("parent"), Limits: &gardencorev1beta1.Limits{MaxNodesTotal: new(int32(1))},
	}}
	own := &gardencorev1beta1.NamespacedCloudProfileSpec{
		Kubernetes:    &gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{version("1.2.0", end), version("1.3.0", end)}},
		MachineImages: []gardencorev1beta1.MachineImage{image("a", version("1.0.0", end), version("2.0.0", nil)), image("b", version("1.0.0", nil))},
		MachineTypes:  []gardencorev1beta1.MachineType{machine("small", "arm64"), machine("large", "amd64")},
		VolumeTypes:   []gardencorev1beta1.VolumeType{volume("slow", "premium"), volume("fast", "premium")},
		CABundle:      new("own"), Limits: &gardencorev1beta1.Limits{MaxNodesTotal: new(int32(2))},
	}
	want := &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{
		Kubernetes:    gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{version("1.1.0", nil), version("1.2.0", end)}},
		MachineImages: []gardencorev1beta1.MachineImage{image("a", version("1.0.0", end), version("2.0.0", nil)), image("b", version("1.0.0", nil))},
		MachineTypes:  []gardencorev1beta1.MachineType{machine("small", "amd64"), machine("large", "amd64")},
		VolumeTypes:   []gardencorev1beta1.VolumeType{volume("slow", "standard"), volume("fast", "premium")},
		CABundle:      new("parent\nown"), Limits: &gardencorev1beta1.Limits{MaxNodesTotal: new(int32(2))},
	}}
	before := parent.DeepCopy()
	if diff := cmp.Diff(want, query.Merged(parent, own)); diff != "" {
		t.Errorf("API-NCPV-1: the project's additions come to the parent's offer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, parent); diff != "" {
		t.Errorf("the parent stays as it is (-want +got):\n%s", diff)
	}
}

// TestProlonged_GCM_NCP_1 merges a version of a profile with what a project says of its end.
func TestProlonged_GCM_NCP_1(t *testing.T) {
	t.Parallel()
	type (
		version = gardencorev1beta1.ExpirableVersion
		stage   = gardencorev1beta1.LifecycleStage
	)
	year := func(n int) *metav1.Time { return new(metav1.NewTime(time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC))) }
	deprecated := gardencorev1beta1.VersionClassificationDeprecated
	cycle := func(end int) []stage {
		return []stage{{Classification: "supported"}, {Classification: "deprecated", StartTime: year(2028)}, {Classification: "expired", StartTime: year(end)}}
	}
	for name, tc := range map[string]struct {
		reason        string
		have, by      version
		want          version
		lives, passes int
	}{
		"date":           {reason: "another date", have: version{ExpirationDate: year(2029), Classification: &deprecated}, by: version{ExpirationDate: year(2030)}, want: version{ExpirationDate: year(2030), Classification: &deprecated}, lives: 2029, passes: 2030},
		"first date":     {reason: "a date where there was none", by: version{ExpirationDate: year(2030)}, want: version{ExpirationDate: year(2030)}, lives: 2029, passes: 2030},
		"lifecycle":      {reason: "another lifecycle", have: version{Lifecycle: cycle(2029)}, by: version{Lifecycle: cycle(2030)}, want: version{Lifecycle: cycle(2030)}, lives: 2029, passes: 2030},
		"of a lifecycle": {reason: "a date ends a lifecycle later", have: version{Lifecycle: cycle(2029)}, by: version{ExpirationDate: year(2030)}, want: version{Lifecycle: cycle(2030)}, lives: 2029, passes: 2030},
		"sooner": {
			reason: "or sooner, without the stages that do not begin any more", have: version{Lifecycle: cycle(2029)}, by: version{ExpirationDate: year(2028)},
			want: version{Lifecycle: []stage{{Classification: "supported"}, {Classification: "expired", StartTime: year(2028)}}}, lives: 2027, passes: 2028,
		},
		"never before": {
			reason: "or at all", have: version{Lifecycle: cycle(2029)[:2]}, by: version{ExpirationDate: year(2030)}, want: version{Lifecycle: cycle(2030)}, lives: 2029, passes: 2030,
		},
		"of a date": {reason: "a lifecycle takes the place of the other form", have: version{ExpirationDate: year(2029), Classification: &deprecated}, by: version{Lifecycle: cycle(2030)}, want: version{Lifecycle: cycle(2030)}, lives: 2029, passes: 2030},
		"neither":   {reason: "nothing is said of it", have: version{ExpirationDate: year(2029), Classification: &deprecated}, want: version{ExpirationDate: year(2029), Classification: &deprecated}, lives: 2028, passes: 2029},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent, own := &gardencorev1beta1.CloudProfile{}, &gardencorev1beta1.NamespacedCloudProfileSpec{Kubernetes: &gardencorev1beta1.KubernetesSettings{}}
			tc.have.Version, tc.by.Version, tc.want.Version = "1.30.0", "1.30.0", "1.30.0"
			parent.Spec.Kubernetes.Versions, own.Kubernetes.Versions = []version{tc.have}, []version{tc.by}
			before := parent.DeepCopy()
			got := query.Merged(parent, own).Spec.Kubernetes.Versions[0]
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if !query.Active(got, year(tc.lives).Time) || !query.Expired(got, year(tc.passes).Time) {
				t.Errorf("%s: in %d it is %s, in %d %s", tc.reason, tc.lives, query.Stage(got, year(tc.lives).Time), tc.passes, query.Stage(got, year(tc.passes).Time))
			}
			if diff := cmp.Diff(before, parent); diff != "" {
				t.Errorf("the parent has changed (-want +got):\n%s", diff)
			}
		})
	}
}

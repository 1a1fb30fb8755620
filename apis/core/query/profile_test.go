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

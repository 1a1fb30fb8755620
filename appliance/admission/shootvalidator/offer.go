// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// offer is what a CloudProfile offers at a moment.
type offer struct {
	profile *gardencorev1beta1.CloudProfileSpec
	now     time.Time
}

func (o offer) active(v gardencorev1beta1.ExpirableVersion) bool { return query.Active(v, o.now) }

func (o offer) image(name string) *gardencorev1beta1.MachineImage {
	return find(o.profile.MachineImages, func(i gardencorev1beta1.MachineImage) bool { return i.Name == name })
}

func (o offer) region(name string) *gardencorev1beta1.Region {
	return find(o.profile.Regions, func(r gardencorev1beta1.Region) bool { return r.Name == name })
}

func (o offer) machineType(name string) *gardencorev1beta1.MachineType {
	return find(o.profile.MachineTypes, func(t gardencorev1beta1.MachineType) bool { return t.Name == name })
}

func (o offer) volumeType(name string) *gardencorev1beta1.VolumeType {
	return find(o.profile.VolumeTypes, func(t gardencorev1beta1.VolumeType) bool { return t.Name == name })
}

func find[T any](all []T, is func(T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return &all[i]
	}
	return nil
}

// firstImage names the first image that has a version to choose for an architecture.
func (o offer) firstImage(architecture string) string {
	for _, image := range o.profile.MachineImages {
		if o.newestImage(image.Name, "", architecture) != "" {
			return image.Name
		}
	}
	return ""
}

// newestImage is the highest version of an image that suits an architecture, begins with prefix, and is neither in
// preview nor expired.
func (o offer) newestImage(name, prefix, architecture string) string {
	image := o.image(name)
	if image == nil {
		return ""
	}
	var fitting []gardencorev1beta1.ExpirableVersion
	for _, v := range image.Versions {
		if suits(v, architecture) {
			fitting = append(fitting, v.ExpirableVersion)
		}
	}
	return query.Newest(fitting, prefix, o.now,
		gardencorev1beta1.VersionClassificationSupported, gardencorev1beta1.VersionClassificationDeprecated)
}

// suits tells whether an image runs on an architecture. An image that does not say runs on all.
func suits(v gardencorev1beta1.MachineImageVersion, architecture string) bool {
	return len(v.Architectures) == 0 || slices.Contains(v.Architectures, architecture)
}

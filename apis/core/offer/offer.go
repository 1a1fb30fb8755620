// SPDX-License-Identifier: Apache-2.0

// Package offer has what Shoots can choose from: what a CloudProfile offers at a time. The plugin that completes Shoots and
// the one that validates them use the same offer.
package offer

import (
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Offer is what a CloudProfile offers at a time.
type Offer struct {
	Profile *gardencorev1beta1.CloudProfileSpec
	Now     time.Time
}

// Active reports whether a version can be chosen.
func (o Offer) Active(v gardencorev1beta1.ExpirableVersion) bool { return query.Active(v, o.Now) }

// Image returns the machine image with a name, or nil.
func (o Offer) Image(name string) *gardencorev1beta1.MachineImage {
	return Find(o.Profile.MachineImages, func(i gardencorev1beta1.MachineImage) bool { return i.Name == name })
}

// Region returns the region with a name, or nil.
func (o Offer) Region(name string) *gardencorev1beta1.Region {
	return Find(o.Profile.Regions, func(r gardencorev1beta1.Region) bool { return r.Name == name })
}

// MachineType returns the machine type with a name, or nil.
func (o Offer) MachineType(name string) *gardencorev1beta1.MachineType {
	return Find(o.Profile.MachineTypes, func(t gardencorev1beta1.MachineType) bool { return t.Name == name })
}

// VolumeType returns the volume type with a name, or nil.
func (o Offer) VolumeType(name string) *gardencorev1beta1.VolumeType {
	return Find(o.Profile.VolumeTypes, func(t gardencorev1beta1.VolumeType) bool { return t.Name == name })
}

// FirstImage returns the name of the first image with a version that can be chosen for a machine.
func (o Offer) FirstImage(m Machine) string {
	for _, image := range o.Profile.MachineImages {
		if o.NewestImage(image.Name, "", m) != "" {
			return image.Name
		}
	}
	return ""
}

// Machine is a machine that an image has to support.
type Machine struct {
	// Architecture is the architecture of the processor.
	Architecture string
	// Type is the machine type; it may be one that is not offered.
	Type string
	// InPlace requires images to which machines can be updated without being replaced.
	InPlace bool
}

// NewestImage returns the highest version of an image that supports a machine, begins with prefix, and is neither in preview
// nor expired.
func (o Offer) NewestImage(name, prefix string, m Machine) string {
	image := o.Image(name)
	if image == nil {
		return ""
	}
	var fitting []gardencorev1beta1.ExpirableVersion
	for _, v := range image.Versions {
		if o.Suits(v, m) {
			fitting = append(fitting, v.ExpirableVersion)
		}
	}
	return query.Newest(fitting, prefix, o.Now,
		gardencorev1beta1.VersionClassificationSupported, gardencorev1beta1.VersionClassificationDeprecated)
}

// Suits reports whether an image runs on a machine. An image without constraints runs on all.
func (o Offer) Suits(v gardencorev1beta1.MachineImageVersion, m Machine) bool {
	if m.InPlace && (v.InPlaceUpdates == nil || !v.InPlaceUpdates.Supported) {
		return false
	}
	if len(o.Profile.MachineCapabilities) > 0 && len(v.CapabilityFlavors) > 0 {
		return o.capable(v, m)
	}
	return len(v.Architectures) == 0 || slices.Contains(v.Architectures, m.Architecture)
}

// Find returns the first matching item, or nil.
func Find[T any](all []T, is func(T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return &all[i]
	}
	return nil
}

// MachineOf returns the machine of a pool.
func MachineOf(w *gardencorev1beta1.Worker) Machine {
	m := Machine{Architecture: gardencorev1beta1.ArchitectureAMD64, Type: w.Machine.Type}
	if w.Machine.Architecture != nil {
		m.Architecture = *w.Machine.Architecture
	}
	if w.UpdateStrategy != nil {
		m.InPlace = *w.UpdateStrategy != gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate
	}
	return m
}

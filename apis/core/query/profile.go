// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Merged returns the spec of a cloud profile merged with what a project adds to it: other expiration dates, further images
// and versions of images, further types of machines and volumes, certificates, and its own limits. Types that the profile
// already has are taken from the profile.
func Merged(parent *gardencorev1beta1.CloudProfile, own *gardencorev1beta1.NamespacedCloudProfileSpec) *gardencorev1beta1.CloudProfile {
	all, add := parent.DeepCopy(), own.DeepCopy()
	if add.Kubernetes != nil {
		for _, v := range add.Kubernetes.Versions {
			if i := slices.IndexFunc(all.Spec.Kubernetes.Versions, func(o gardencorev1beta1.ExpirableVersion) bool { return o.Version == v.Version }); i >= 0 {
				prolong(&all.Spec.Kubernetes.Versions[i], v)
			}
		}
	}
	for _, image := range add.MachineImages {
		all.Spec.MachineImages = mergeImage(all.Spec.MachineImages, image)
	}
	for _, t := range add.MachineTypes {
		if !slices.ContainsFunc(parent.Spec.MachineTypes, func(o gardencorev1beta1.MachineType) bool { return o.Name == t.Name }) {
			all.Spec.MachineTypes = append(all.Spec.MachineTypes, t)
		}
	}
	for _, t := range add.VolumeTypes {
		if !slices.ContainsFunc(parent.Spec.VolumeTypes, func(o gardencorev1beta1.VolumeType) bool { return o.Name == t.Name }) {
			all.Spec.VolumeTypes = append(all.Spec.VolumeTypes, t)
		}
	}
	if add.CABundle != nil {
		if all.Spec.CABundle != nil {
			*add.CABundle = *all.Spec.CABundle + "\n" + *add.CABundle
		}
		all.Spec.CABundle = add.CABundle
	}
	if add.Limits != nil && add.Limits.MaxNodesTotal != nil {
		all.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: add.Limits.MaxNodesTotal}
	}
	gardencorev1beta1.SetDefaultsCloudProfile(all)
	AlignArchitectures(&all.Spec)
	return all
}

// Offer returns what a NamespacedCloudProfile offers, including the offer of its parent, in the form of a cloud profile. It
// is in the status of the profile once the two have been merged.
func Offer(p *gardencorev1beta1.NamespacedCloudProfile) *gardencorev1beta1.CloudProfile {
	return &gardencorev1beta1.CloudProfile{ObjectMeta: p.ObjectMeta, Spec: p.Status.CloudProfileSpec}
}

func mergeImage(all []gardencorev1beta1.MachineImage, image gardencorev1beta1.MachineImage) []gardencorev1beta1.MachineImage {
	i := slices.IndexFunc(all, func(o gardencorev1beta1.MachineImage) bool { return o.Name == image.Name })
	if i < 0 {
		return append(all, image)
	}
	if image.UpdateStrategy != nil {
		all[i].UpdateStrategy = image.UpdateStrategy
	}
	for _, v := range image.Versions {
		j := slices.IndexFunc(all[i].Versions, func(o gardencorev1beta1.MachineImageVersion) bool { return o.Version == v.Version })
		if j < 0 {
			all[i].Versions = append(all[i].Versions, v)
			continue
		}
		prolong(&all[i].Versions[j].ExpirableVersion, v.ExpirableVersion)
	}
	return all
}

// prolong sets another expiration date of a version, or another lifecycle. A version has its stages in one of two forms, so the form
// that is not set anew is adapted to the other: an expiration date ends the lifecycle of the profile, and a lifecycle takes the place of
// its classification and date.
func prolong(v *gardencorev1beta1.ExpirableVersion, by gardencorev1beta1.ExpirableVersion) {
	switch {
	case len(by.Lifecycle) > 0:
		v.Lifecycle, v.Classification, v.ExpirationDate = by.Lifecycle, nil, nil
	case by.ExpirationDate != nil && len(v.Lifecycle) > 0:
		v.Lifecycle = endingAt(v.Lifecycle, by.ExpirationDate)
	case by.ExpirationDate != nil:
		v.ExpirationDate = by.ExpirationDate
	}
}

// endingAt returns a lifecycle that ends at another time, without the stages that would begin later.
func endingAt(cycle []gardencorev1beta1.LifecycleStage, end *metav1.Time) []gardencorev1beta1.LifecycleStage {
	cycle = slices.DeleteFunc(slices.Clone(cycle), func(s gardencorev1beta1.LifecycleStage) bool {
		return s.Classification == gardencorev1beta1.VersionClassificationExpired || s.StartTime != nil && !s.StartTime.Before(end)
	})
	return append(cycle, gardencorev1beta1.LifecycleStage{Classification: gardencorev1beta1.VersionClassificationExpired, StartTime: end})
}

// SPDX-License-Identifier: Apache-2.0

package namespacedcloudprofile

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules(clk clock.PassiveClock) kind.Rules[*gardencorev1beta1.NamespacedCloudProfile] {
	return kind.Rules[*gardencorev1beta1.NamespacedCloudProfile]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "namespacedcloudprofiles",
			Singular:     "namespacedcloudprofile",
			ShortNames:   []string{"nsprofile", "nscpfl"},
		},
		New:           func() *gardencorev1beta1.NamespacedCloudProfile { return &gardencorev1beta1.NamespacedCloudProfile{} },
		NewList:       func() runtime.Object { return &gardencorev1beta1.NamespacedCloudProfileList{} },
		Namespaced:    true,
		Unconditional: true,
		Generation:    true,
		PrepareCreate: func(_ context.Context, obj *gardencorev1beta1.NamespacedCloudProfile) {
			dropExpired(&obj.Spec, &gardencorev1beta1.NamespacedCloudProfileSpec{}, clk.Now())
		},
		PrepareUpdate: func(_ context.Context, obj, old *gardencorev1beta1.NamespacedCloudProfile) {
			dropExpired(&obj.Spec, &old.Spec, clk.Now())
		},
		SpecChanged: func(obj, old *gardencorev1beta1.NamespacedCloudProfile) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		Validate:       validation.ValidateNamespacedCloudProfile,
		ValidateUpdate: validation.ValidateNamespacedCloudProfileUpdate,
		Columns: []kind.Column[*gardencorev1beta1.NamespacedCloudProfile]{
			{Name: "Parent Name", Cell: func(o *gardencorev1beta1.NamespacedCloudProfile) string { return o.Spec.Parent.Name }},
			{Name: "Parent Kind", Cell: func(o *gardencorev1beta1.NamespacedCloudProfile) string { return o.Spec.Parent.Kind }},
		},
		Status: status(),
	}
}

// dropExpired removes expired versions, and images without remaining versions and other settings. Versions that the old
// profile has are kept, because shoots may still use them (API-STRAT-13).
func dropExpired(s, old *gardencorev1beta1.NamespacedCloudProfileSpec, now time.Time) {
	if s.Kubernetes != nil {
		var before []gardencorev1beta1.ExpirableVersion
		if old.Kubernetes != nil {
			before = old.Kubernetes.Versions
		}
		s.Kubernetes.Versions = slices.DeleteFunc(s.Kubernetes.Versions, func(v gardencorev1beta1.ExpirableVersion) bool {
			return query.Expired(v, now) && !slices.ContainsFunc(before, func(was gardencorev1beta1.ExpirableVersion) bool {
				return was.Version == v.Version
			})
		})
	}
	images := s.MachineImages[:0]
	for _, image := range s.MachineImages {
		given := len(image.Versions)
		before := versions(old.MachineImages, image.Name)
		image.Versions = slices.DeleteFunc(image.Versions, func(v gardencorev1beta1.MachineImageVersion) bool {
			return query.Expired(v.ExpirableVersion, now) && !slices.Contains(before, v.Version)
		})
		if given == 0 || len(image.Versions) > 0 || image.UpdateStrategy != nil {
			images = append(images, image)
		}
	}
	s.MachineImages = images
}

// versions returns the versions of the image with a name.
func versions(all []gardencorev1beta1.MachineImage, name string) []string {
	var found []string
	for _, image := range all {
		if image.Name != name {
			continue
		}
		for _, v := range image.Versions {
			found = append(found, v.Version)
		}
	}
	return found
}

func status() *kind.StatusRules[*gardencorev1beta1.NamespacedCloudProfile] {
	return &kind.StatusRules[*gardencorev1beta1.NamespacedCloudProfile]{
		Reset:    func(obj, old *gardencorev1beta1.NamespacedCloudProfile) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.NamespacedCloudProfile) { obj.Spec = old.Spec },
	}
}

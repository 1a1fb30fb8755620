// SPDX-License-Identifier: Apache-2.0

package cloudprofile

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules(clk clock.PassiveClock) kind.Rules[*gardencorev1beta1.CloudProfile] {
	return kind.Rules[*gardencorev1beta1.CloudProfile]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "cloudprofiles",
			Singular:     "cloudprofile",
			ShortNames:   []string{"cprofile", "cpfl"},
		},
		New:            func() *gardencorev1beta1.CloudProfile { return &gardencorev1beta1.CloudProfile{} },
		NewList:        func() runtime.Object { return &gardencorev1beta1.CloudProfileList{} },
		Unconditional:  true,
		PrepareCreate:  func(_ context.Context, obj *gardencorev1beta1.CloudProfile) { dropExpired(&obj.Spec, clk.Now()) },
		Canonicalize:   func(obj *gardencorev1beta1.CloudProfile) { query.AlignArchitectures(&obj.Spec) },
		Validate:       validation.ValidateCloudProfile,
		ValidateUpdate: validation.ValidateCloudProfileUpdate,
		Columns:        columns(),
		Status:         status(),
	}
}

// dropExpired removes expired versions from a new profile. An existing profile may keep them, because shoots still use them
// (API-STRAT-12).
func dropExpired(s *gardencorev1beta1.CloudProfileSpec, now time.Time) {
	s.Kubernetes.Versions = slices.DeleteFunc(s.Kubernetes.Versions, func(v gardencorev1beta1.ExpirableVersion) bool {
		return query.Expired(v, now)
	})
	for i := range s.MachineImages {
		image := &s.MachineImages[i]
		image.Versions = slices.DeleteFunc(image.Versions, func(v gardencorev1beta1.MachineImageVersion) bool {
			return query.Expired(v.ExpirableVersion, now)
		})
	}
}

func columns() []kind.Column[*gardencorev1beta1.CloudProfile] {
	return []kind.Column[*gardencorev1beta1.CloudProfile]{
		{Name: "Provider", Cell: func(o *gardencorev1beta1.CloudProfile) string { return o.Spec.Type }},
	}
}

func status() *kind.StatusRules[*gardencorev1beta1.CloudProfile] {
	return &kind.StatusRules[*gardencorev1beta1.CloudProfile]{
		Reset:    func(obj, old *gardencorev1beta1.CloudProfile) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.CloudProfile) { obj.Spec = old.Spec },
	}
}

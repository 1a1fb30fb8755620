// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// offer is what a CloudProfile offers at a moment.
type offer struct {
	profile *gardencorev1beta1.CloudProfileSpec
	now     time.Time
}

// stage is the classification of a version now: its last life-cycle stage that has begun, else its classification, and
// expired once the expiration date has passed (API-VALCP-2).
func (o offer) stage(v gardencorev1beta1.ExpirableVersion) gardencorev1beta1.VersionClassification {
	stage := gardencorev1beta1.VersionClassificationSupported
	if v.Classification != nil {
		stage = *v.Classification
	}
	if len(v.Lifecycle) > 0 {
		stage = gardencorev1beta1.VersionClassificationUnavailable
	}
	for _, s := range v.Lifecycle {
		if s.StartTime == nil || !s.StartTime.After(o.now) {
			stage = s.Classification
		}
	}
	if v.ExpirationDate != nil && !v.ExpirationDate.After(o.now) {
		return gardencorev1beta1.VersionClassificationExpired
	}
	return stage
}

func (o offer) active(v gardencorev1beta1.ExpirableVersion) bool {
	s := o.stage(v)
	return s != gardencorev1beta1.VersionClassificationExpired && s != gardencorev1beta1.VersionClassificationUnavailable
}

// newest returns the highest version that begins with prefix and is fit to be chosen for somebody: active, no preview.
func (o offer) newest(all []gardencorev1beta1.ExpirableVersion, prefix string) (string, bool) {
	best := ""
	for _, v := range all {
		if !o.active(v) || o.stage(v) == gardencorev1beta1.VersionClassificationPreview {
			continue
		}
		if prefix != "" && !strings.HasPrefix(v.Version, prefix+".") {
			continue
		}
		if best == "" || higher(v.Version, best) {
			best = v.Version
		}
	}
	return best, best != ""
}

func higher(a, b string) bool {
	va, err := version.ParseSemantic(a)
	if err != nil {
		return false
	}
	vb, err := version.ParseSemantic(b)
	return err == nil && vb.LessThan(va)
}

func (o offer) image(name string) *gardencorev1beta1.MachineImage {
	for i := range o.profile.MachineImages {
		if o.profile.MachineImages[i].Name == name {
			return &o.profile.MachineImages[i]
		}
	}
	return nil
}

func (o offer) region(name string) *gardencorev1beta1.Region {
	for i := range o.profile.Regions {
		if o.profile.Regions[i].Name == name {
			return &o.profile.Regions[i]
		}
	}
	return nil
}

func (o offer) machineType(name string) *gardencorev1beta1.MachineType {
	for i := range o.profile.MachineTypes {
		if o.profile.MachineTypes[i].Name == name {
			return &o.profile.MachineTypes[i]
		}
	}
	return nil
}

// versionsOf strips the image version to what all versions have in common.
func versionsOf(image *gardencorev1beta1.MachineImage) []gardencorev1beta1.ExpirableVersion {
	all := make([]gardencorev1beta1.ExpirableVersion, 0, len(image.Versions))
	for _, v := range image.Versions {
		all = append(all, v.ExpirableVersion)
	}
	return all
}

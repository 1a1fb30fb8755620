// SPDX-License-Identifier: Apache-2.0

package cloudprofile

import (
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Status lists the stage of life of each version at the time now, and tells when the first of them enters the next one;
// that time is zero when none will.
func Status(spec *gardencorev1beta1.CloudProfileSpec, now time.Time) (gardencorev1beta1.CloudProfileStatus, time.Time) {
	var next time.Time
	stages := func(versions []gardencorev1beta1.ExpirableVersion) []gardencorev1beta1.ExpirableVersionStatus {
		all := make([]gardencorev1beta1.ExpirableVersionStatus, 0, len(versions))
		for _, v := range versions {
			all = append(all, gardencorev1beta1.ExpirableVersionStatus{Version: v.Version, Classification: query.Stage(v, now)})
			if change, ok := query.NextStage(v, now); ok && (next.IsZero() || change.Before(next)) {
				next = change
			}
		}
		return all
	}
	status := gardencorev1beta1.CloudProfileStatus{}
	if len(spec.Kubernetes.Versions) > 0 {
		status.Kubernetes = &gardencorev1beta1.KubernetesStatus{Versions: stages(spec.Kubernetes.Versions)}
	}
	for _, image := range spec.MachineImages {
		versions := make([]gardencorev1beta1.ExpirableVersion, 0, len(image.Versions))
		for _, v := range image.Versions {
			versions = append(versions, v.ExpirableVersion)
		}
		status.MachineImages = append(status.MachineImages, gardencorev1beta1.MachineImageStatus{Name: image.Name, Versions: stages(versions)})
	}
	return status, next
}

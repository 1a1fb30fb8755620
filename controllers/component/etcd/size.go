// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
)

// size says how the etcd of a role is sized: the important one of a shoot that is relied upon never shrinks, any other one only while the
// shoot is maintained, because each change of its size restarts it (BAK-ETCD-5, BAK-ETCD-9, GLET-RECON-7).
func size(f facts.Shoot, role string) vertical.Workload {
	least, shrinks := "60M", gardencorev1beta1.VPADownscaleInMaintenanceWindowOnly
	if role == gardencorev1beta1.ETCDRoleMain {
		least = "300M"
		if reliedUpon(f) {
			shrinks = gardencorev1beta1.VPADownscaleNever
		}
	}
	return vertical.Workload{
		Kind: vertical.StatefulSet, Name: nameOf(role), Labels: labels(role), Container: container, Demanded: demanded(f, role), Shrinks: shrinks,
		Least: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(least)}, Most: most(),
	}
}

// most is what an etcd never gets more of.
func most() corev1.ResourceList { return vertical.Most("4", "30Gi") }

func reliedUpon(f facts.Shoot) bool {
	purposes := []gardencorev1beta1.ShootPurpose{gardencorev1beta1.ShootPurposeProduction, gardencorev1beta1.ShootPurposeInfrastructure}
	return slices.Contains(purposes, ptr.Deref(f.Shoot.Spec.Purpose, ""))
}

// demanded is what the owner of the shoot demands for the etcd of a role; nil if nothing.
func demanded(f facts.Shoot, role string) *gardencorev1beta1.ControlPlaneAutoscaling {
	settings := f.Shoot.Spec.Kubernetes.ETCD
	if settings == nil {
		return nil
	}
	of := settings.Events
	if role == gardencorev1beta1.ETCDRoleMain {
		of = settings.Main
	}
	if of == nil {
		return nil
	}
	return of.Autoscaling
}

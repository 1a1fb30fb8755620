// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Pools are the worker pools as the provider gets them. userData names the Secret of each.
func Pools(shoot *gardencorev1beta1.Shoot, profile *gardencorev1beta1.CloudProfile, userData map[string]string) []gardenextensionsv1alpha1.WorkerPool {
	pools := make([]gardenextensionsv1alpha1.WorkerPool, 0, len(shoot.Spec.Provider.Workers))
	for i := range shoot.Spec.Provider.Workers {
		w := &shoot.Spec.Provider.Workers[i]
		version := query.PoolVersion(&shoot.Spec, w)
		p := gardenextensionsv1alpha1.WorkerPool{
			Name: w.Name, MachineType: w.Machine.Type, Minimum: w.Minimum, Maximum: w.Maximum,
			MaxSurge: surge(w.MaxSurge, 1), MaxUnavailable: surge(w.MaxUnavailable, 0),
			Labels: poolLabels(w, version), Annotations: w.Annotations, Taints: w.Taints, Zones: w.Zones, Architecture: w.Machine.Architecture,
			KubernetesVersion: &version, ProviderConfig: w.ProviderConfig, Priority: w.Priority, UpdateStrategy: w.UpdateStrategy,
			KubeletDataVolumeName: w.KubeletDataVolumeName, MachineControllerManagerSettings: w.MachineControllerManager,
			NodeTemplate: nodeTemplate(profile, w.Machine.Type),
			UserDataSecretRef: corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: userData[w.Name]}, Key: gardencorev1beta1.DataKeyCloudConfig,
			},
		}
		if image := w.Machine.Image; image != nil {
			p.MachineImage.Name = image.Name
			if image.Version != nil {
				p.MachineImage.Version = *image.Version
			}
		}
		if w.Volume != nil {
			p.Volume = &gardenextensionsv1alpha1.Volume{Name: w.Volume.Name, Type: w.Volume.Type, Size: w.Volume.Size, Encrypted: w.Volume.Encrypted}
		}
		for _, v := range w.DataVolumes {
			p.DataVolumes = append(p.DataVolumes, gardenextensionsv1alpha1.DataVolume{Name: v.Name, Type: v.Type, Size: v.Size, Encrypted: v.Encrypted})
		}
		pools = append(pools, p)
	}
	return pools
}

func surge(value *intstr.IntOrString, otherwise int32) intstr.IntOrString {
	if value == nil {
		return intstr.FromInt32(otherwise)
	}
	return *value
}

// poolLabels are put on every node of a pool, after those of its owner.
func poolLabels(w *gardencorev1beta1.Worker, version string) map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, w.Labels)
	system := w.SystemComponents == nil || w.SystemComponents.Allow
	labels["node.kubernetes.io/role"] = "node"
	labels[gardencorev1beta1.LabelWorkerPool] = w.Name
	labels[gardencorev1beta1.LabelWorkerPoolLegacy] = w.Name
	labels[gardencorev1beta1.LabelWorkerKubernetesVersion] = version
	labels[gardencorev1beta1.LabelWorkerSystemComponents] = fmt.Sprint(system)
	labels[gardencorev1beta1.LabelNodeLocalDNSEnabled] = "false"
	if w.CRI != nil {
		labels[gardencorev1beta1.LabelWorkerCRIName] = string(w.CRI.Name)
		for _, r := range w.CRI.ContainerRuntimes {
			labels[fmt.Sprintf(gardencorev1beta1.LabelFormatContainerRuntime, r.Type)] = "true"
		}
	}
	return labels
}

// nodeTemplate tells what a machine of a type has.
func nodeTemplate(profile *gardencorev1beta1.CloudProfile, machineType string) *gardenextensionsv1alpha1.NodeTemplate {
	for _, t := range profile.Spec.MachineTypes {
		if t.Name == machineType {
			return &gardenextensionsv1alpha1.NodeTemplate{Capacity: corev1.ResourceList{
				corev1.ResourceCPU: t.CPU, corev1.ResourceMemory: t.Memory, "gpu": t.GPU,
			}}
		}
	}
	return nil
}

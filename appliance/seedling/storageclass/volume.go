// SPDX-License-Identifier: Apache-2.0

package storageclass

import (
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Name is the name of the StorageClass.
	Name = "seedling"
	// Provisioner is the name of this provisioner in the StorageClass.
	Provisioner = "seedling.terrarium.garden/folder"

	// provisionedBy tells the volume controller of Kubernetes that the provisioner deletes the volume.
	provisionedBy = "pv.kubernetes.io/provisioned-by"
)

// Class returns the StorageClass. Volumes are bound immediately, because there is only one node.
func Class() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{Name: Name, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner:       Provisioner,
		ReclaimPolicy:     new(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode: new(storagev1.VolumeBindingImmediate),
	}
}

// wantsVolume reports whether a claim waits for a volume of the class.
func wantsVolume(claim *corev1.PersistentVolumeClaim) bool {
	class := claim.Spec.StorageClassName
	return class != nil && *class == Name && claim.Spec.VolumeName == "" && claim.DeletionTimestamp == nil && claim.Status.Phase != corev1.ClaimBound
}

// wantsEnd reports whether a volume of this provisioner is released and has to be deleted.
func wantsEnd(volume *corev1.PersistentVolume) bool {
	return volume.Annotations[provisionedBy] == Provisioner &&
		volume.Status.Phase == corev1.VolumeReleased &&
		volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}

// volumeName is the name of the volume of a claim, and of its folder. It is unique.
func volumeName(claim *corev1.PersistentVolumeClaim) string { return "pvc-" + string(claim.UID) }

func volumeFor(claim *corev1.PersistentVolumeClaim, dir string) *corev1.PersistentVolume {
	name := volumeName(claim)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: Provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              Name,
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: filepath.Join(dir, name), Type: new(corev1.HostPathDirectory)},
			},
		},
	}
}

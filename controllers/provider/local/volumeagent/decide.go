// SPDX-License-Identifier: Apache-2.0

package volumeagent

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

const (
	// Class is the name of the StorageClass.
	Class = "local"
	// Provisioner is the name of the agents in the StorageClass.
	Provisioner = "local.provider.extensions.gardener.cloud/volumes"
	// Finalizer keeps a volume until its folder has been dealt with.
	Finalizer = "local.provider.extensions.gardener.cloud/volume"

	// provisionedBy tells the volume controller of Kubernetes that somebody else removes the volume.
	provisionedBy = "pv.kubernetes.io/provisioned-by"
	// protection keeps a volume as long as it has a claim.
	protection = "kubernetes.io/pv-protection"

	prefix    = "pvc-"
	uidLength = 36
)

// wantsVolume reports whether a claim waits for a volume of the class.
func wantsVolume(claim *corev1.PersistentVolumeClaim) bool {
	return ptr.Deref(claim.Spec.StorageClassName, "") == Class && claim.Spec.VolumeName == "" &&
		claim.DeletionTimestamp == nil && claim.Status.Phase != corev1.ClaimBound
}

// unsupported says why a claim cannot have a volume; empty if it can.
func unsupported(claim *corev1.PersistentVolumeClaim) string {
	switch {
	case ptr.Deref(claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) == corev1.PersistentVolumeBlock:
		return "Block volumes are not supported: a volume is a folder"
	case claim.Spec.DataSource != nil || claim.Spec.DataSourceRef != nil:
		return "Volumes are made empty: a data source is not supported"
	case claim.Spec.Selector != nil:
		return "Volumes are made for a claim: a selector is not supported"
	default:
		return ""
	}
}

// nameFor is the name of the volume of a claim and of its folder. It is unique. Without a proper UID there is none.
func nameFor(uid types.UID) (string, bool) {
	name := prefix + string(uid)
	return name, proper(name)
}

// proper reports whether the name of a volume can be that of a folder: it has nothing in it that leads elsewhere.
func proper(name string) bool {
	uid, found := strings.CutPrefix(name, prefix)
	return found && len(uid) == uidLength && strings.Trim(uid, "0123456789abcdef-") == ""
}

// volumeFor is the volume of a claim. It can be used wherever the machine has the folder.
func volumeFor(claim *corev1.PersistentVolumeClaim, name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: Provisioner}, Finalizers: []string{Finalizer}},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              Class,
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			VolumeMode:                    new(corev1.PersistentVolumeFilesystem),
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path.Join(machine.VolumesDir, name)}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: machine.VolumesLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{machine.VolumesHere}},
				},
			}}}},
		},
	}
}

// own reports whether a volume has a folder of its own here. One that somebody wrote by hand with another path has none.
func own(volume *corev1.PersistentVolume) bool {
	return proper(volume.Name) && volume.Annotations[provisionedBy] == Provisioner &&
		volume.Spec.Local != nil && volume.Spec.Local.Path == path.Join(machine.VolumesDir, volume.Name)
}

// verdict is what has to be done about a volume.
type verdict struct {
	// erase removes its folder, and then the volume.
	erase bool
	// release lets go a volume that somebody has deleted.
	release bool
}

// judge looks at a volume. Data go when the claim is gone, and when the volume is deleted, unless the volume says that they are retained.
func judge(volume *corev1.PersistentVolume) verdict {
	ending := volume.DeletionTimestamp != nil && !slices.Contains(volume.Finalizers, protection)
	released := volume.DeletionTimestamp == nil && volume.Status.Phase == corev1.VolumeReleased
	return verdict{
		erase: own(volume) && (ending || released) && slices.Contains(volume.Finalizers, Finalizer) &&
			volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete,
		release: ending && slices.Contains(volume.Finalizers, Finalizer),
	}
}

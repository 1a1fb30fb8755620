// SPDX-License-Identifier: Apache-2.0

package storageclass

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// Reconciler creates and removes volumes. Its methods must not be called concurrently.
type Reconciler struct {
	Client  kubernetes.Interface
	Claims  corelisters.PersistentVolumeClaimLister
	Volumes corelisters.PersistentVolumeLister
	// Dir contains the folders of the volumes.
	Dir string
	// Event records an event of a claim.
	Event func(claim *corev1.PersistentVolumeClaim, kind, reason, message string)
}

// EnsureClass creates the StorageClass.
func (r *Reconciler) EnsureClass(ctx context.Context) error {
	_, err := r.Client.StorageV1().StorageClasses().Create(ctx, Class(), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create StorageClass %q: %w", Name, err)
	}
	return nil
}

// Reconcile processes all claims and volumes.
func (r *Reconciler) Reconcile(ctx context.Context) error {
	claims, err := r.Claims.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	volumes, err := r.Volumes.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list volumes: %w", err)
	}
	known := map[string]bool{}
	var failed []error
	for _, volume := range volumes {
		known[volume.Name] = true
		if wantsEnd(volume) {
			failed = append(failed, r.end(ctx, volume.Name))
		}
	}
	for _, claim := range claims {
		if wantsVolume(claim) && !known[volumeName(claim)] {
			failed = append(failed, r.provision(ctx, claim))
		}
	}
	return errors.Join(failed...)
}

func (r *Reconciler) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if mode := claim.Spec.VolumeMode; mode != nil && *mode == corev1.PersistentVolumeBlock {
		r.Event(claim, corev1.EventTypeWarning, "ProvisioningFailed", "Block volumes are not supported: a volume is a folder")
		return nil
	}
	// The folder is created before the volume, because a volume can be used as soon as it exists. Every user of a pod may
	// write into it. The parent folder is closed, so that no other user of the machine can change its content.
	folder := filepath.Join(r.Dir, volumeName(claim))
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return fmt.Errorf("make folder of volumes: %w", err)
	}
	if err := os.Chmod(r.Dir, 0o700); err != nil { //nolint:gosec // A folder has to be entered.
		return fmt.Errorf("close folder of volumes: %w", err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // Opened to all users below.
		return fmt.Errorf("make folder of volume: %w", err)
	}
	if err := os.Chmod(folder, 0o777); err != nil { //nolint:gosec // The user of the pod is not known.
		return fmt.Errorf("open folder of volume: %w", err)
	}
	_, err := r.Client.CoreV1().PersistentVolumes().Create(ctx, volumeFor(claim, r.Dir), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create volume for claim %q: %w", claim.Namespace+"/"+claim.Name, err)
	}
	return nil
}

// end reads the volume before it removes it, because data do not come back: what the informer has seen may be old, and somebody may have decided
// since then to retain the volume or to bind it again.
func (r *Reconciler) end(ctx context.Context, name string) error {
	volume, err := r.Client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read volume %q: %w", name, err)
	}
	if !wantsEnd(volume) {
		return nil
	}
	return r.remove(ctx, volume)
}

// remove removes the folder before the volume, so that no folder is left without an object that refers to it.
// The path follows from the name of the volume; the path in its spec is not trusted.
// A volume that has changed meanwhile is not deleted: the event of that change has it looked at again.
func (r *Reconciler) remove(ctx context.Context, volume *corev1.PersistentVolume) error {
	if volume.Name != filepath.Base(volume.Name) {
		return fmt.Errorf("volume %q: its name is not a valid name of a folder", volume.Name)
	}
	if err := os.RemoveAll(filepath.Join(r.Dir, volume.Name)); err != nil {
		return fmt.Errorf("remove folder of volume %q: %w", volume.Name, err)
	}
	seen := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &volume.UID, ResourceVersion: &volume.ResourceVersion}}
	err := r.Client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, seen)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete volume %q: %w", volume.Name, err)
	}
	return nil
}

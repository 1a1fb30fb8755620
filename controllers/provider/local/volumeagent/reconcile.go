// SPDX-License-Identifier: Apache-2.0

package volumeagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// Reconciler makes and removes volumes. Its methods must not be called concurrently.
type Reconciler struct {
	// Client reaches the shoot.
	Client kubernetes.Interface
	// Claims and Volumes are those of the shoot.
	Claims  corelisters.PersistentVolumeClaimLister
	Volumes corelisters.PersistentVolumeLister
	// Dir contains the folders of the volumes.
	Dir string
	// Event records an event of a claim.
	Event func(claim *corev1.PersistentVolumeClaim, kind, reason, message string)
}

// Reconcile processes all claims and volumes. An error with one does not stop the others.
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
		if judge(volume) != (verdict{}) {
			failed = append(failed, r.end(ctx, volume.Name))
		}
	}
	for _, claim := range claims {
		if wantsVolume(claim) {
			failed = append(failed, r.provision(ctx, claim, known))
		}
	}
	return errors.Join(failed...)
}

// provision makes the folder before the volume, because a volume can be used as soon as it exists.
func (r *Reconciler) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim, known map[string]bool) error {
	if why := unsupported(claim); why != "" {
		r.Event(claim, corev1.EventTypeWarning, "ProvisioningFailed", why)
		return nil
	}
	name, ok := nameFor(claim.UID)
	if !ok {
		return fmt.Errorf("claim %q: its UID %q cannot be the name of a folder", claim.Namespace+"/"+claim.Name, claim.UID)
	}
	if known[name] {
		return nil
	}
	if err := (folders{dir: r.Dir}).make(name); err != nil {
		return err
	}
	_, err := r.Client.CoreV1().PersistentVolumes().Create(ctx, volumeFor(claim, name), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create volume for claim %q: %w", claim.Namespace+"/"+claim.Name, err)
	}
	return nil
}

// end looks at the volume once more, as what is removed does not come back: its owner may just have decided to retain it.
func (r *Reconciler) end(ctx context.Context, name string) error {
	volume, err := r.Client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read volume %q: %w", name, err)
	}
	now := judge(volume)
	if now.erase {
		if err := (folders{dir: r.Dir}).remove(volume.Name); err != nil {
			return fmt.Errorf("volume %q: %w", name, err)
		}
	}
	switch {
	case now.release:
		return r.release(ctx, volume)
	case now.erase:
		return r.remove(ctx, volume)
	default:
		return nil
	}
}

// remove removes a volume whose folder is gone. The event of that lets it go.
func (r *Reconciler) remove(ctx context.Context, volume *corev1.PersistentVolume) error {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &volume.UID}}
	err := r.Client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, options)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete volume %q: %w", volume.Name, err)
	}
	return nil
}

// release takes the finalizer away. Others may change the list at the same time.
func (r *Reconciler) release(ctx context.Context, volume *corev1.PersistentVolume) error {
	rest := slices.DeleteFunc(slices.Clone(volume.Finalizers), func(f string) bool { return f == Finalizer })
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": volume.ResourceVersion, "finalizers": rest}})
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	_, err = r.Client.CoreV1().PersistentVolumes().Patch(ctx, volume.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("let volume %q go: %w", volume.Name, err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// hold adds the finalizer to the Secret of a Plant and returns it, or nil if it does not exist. A Secret in deletion is not newly
// held. One that cannot be written, because its kubeconfig would be refused today, is used, or reported, all the same.
func (r *Reconciler) hold(ctx context.Context, p *gardencorev1beta1.Plant) (*corev1.Secret, error) {
	secret, err := r.read(ctx, p)
	if err != nil || secret == nil || secret.DeletionTimestamp != nil {
		return secret, err
	}
	err = kit.EnsureFinalizer(ctx, r.Client, secret, gardencorev1beta1.FinalizerPlant)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // It was deleted in between.
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), err == nil:
		return secret, nil
	default:
		return nil, err
	}
}

// release removes the finalizer from the Secrets of the namespace that no live Plant uses: of a Plant in deletion, and of one that
// has changed its Secret. Plants are read around the cache, because an old list would release too many.
func (r *Reconciler) release(ctx context.Context, p *gardencorev1beta1.Plant) error {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := r.Client.List(ctx, secrets, client.InNamespace(p.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list secrets of namespace %q: %w", p.Namespace, err)
	}
	var held []string
	for i := range secrets.Items {
		own := p.DeletionTimestamp == nil && secrets.Items[i].Name == p.Spec.SecretRef.Name
		if !own && controllerutil.ContainsFinalizer(&secrets.Items[i], gardencorev1beta1.FinalizerPlant) {
			held = append(held, secrets.Items[i].Name)
		}
	}
	if p.DeletionTimestamp != nil {
		// The cache may not know yet that the Secret is held.
		held = append(held, p.Spec.SecretRef.Name)
	}
	if len(held) == 0 {
		return nil
	}
	used, err := r.used(ctx, p.Namespace)
	if err != nil {
		return err
	}
	for _, name := range held {
		if used[name] {
			continue
		}
		if err := r.free(ctx, client.ObjectKey{Namespace: p.Namespace, Name: name}); err != nil {
			return err
		}
	}
	return nil
}

// used returns the names of the Secrets that live Plants use. Of two Plants that are deleted together, both release the Secret.
func (r *Reconciler) used(ctx context.Context, namespace string) (map[string]bool, error) {
	plants := &gardencorev1beta1.PlantList{}
	if err := r.Reader.List(ctx, plants, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list plants of namespace %q: %w", namespace, err)
	}
	used := map[string]bool{}
	for i := range plants.Items {
		if plants.Items[i].DeletionTimestamp == nil {
			used[plants.Items[i].Spec.SecretRef.Name] = true
		}
	}
	return used, nil
}

func (r *Reconciler) free(ctx context.Context, key client.ObjectKey) error {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := r.Reader.Get(ctx, key, secret); err != nil {
		return client.IgnoreNotFound(err)
	}
	return kit.DropFinalizer(ctx, r.Client, secret, gardencorev1beta1.FinalizerPlant)
}

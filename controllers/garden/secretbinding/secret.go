// SPDX-License-Identifier: Apache-2.0

package secretbinding

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

const marked = "true"

// hold puts the finalizer and the labels on the Secret. Only its metadata is read and written: this controller has no
// business with credentials.
func hold(ctx context.Context, world inuse.World, object client.Object) error {
	binding, ok := object.(*gardencorev1beta1.SecretBinding)
	if !ok {
		return nil
	}
	secret, err := secretOf(ctx, world.Reader, binding)
	if err != nil {
		return err
	}
	return change(ctx, world.Client, secret, func() {
		if secret.DeletionTimestamp == nil {
			controllerutil.AddFinalizer(secret, gardencorev1beta1.FinalizerSecretBinding)
		}
		Mark(secret, binding)
	})
}

// free undoes hold unless another live binding references the same Secret. A Secret that is gone blocks nothing.
func free(ctx context.Context, world inuse.World, object client.Object) error {
	binding, ok := object.(*gardencorev1beta1.SecretBinding)
	if !ok {
		return nil
	}
	others := &gardencorev1beta1.SecretBindingList{}
	if err := world.Reader.List(ctx, others); err != nil {
		return fmt.Errorf("list secret bindings: %w", err)
	}
	if Shared(binding, others.Items) {
		return nil
	}
	secret, err := secretOf(ctx, world.Reader, binding)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = change(ctx, world.Client, secret, func() {
		controllerutil.RemoveFinalizer(secret, gardencorev1beta1.FinalizerSecretBinding)
		Unmark(secret)
	})
	return client.IgnoreNotFound(err)
}

// Mark labels a Secret for each provider type of the binding.
func Mark(secret metav1.Object, binding *gardencorev1beta1.SecretBinding) {
	labels := secret.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[gardencorev1beta1.LabelReferenceSecretBinding] = marked
	if binding.Provider != nil {
		for provider := range strings.SplitSeq(binding.Provider.Type, ",") {
			labels[gardencorev1beta1.LabelPrefixShootProvider+strings.TrimSpace(provider)] = marked
		}
	}
	secret.SetLabels(labels)
}

// Unmark removes every label that Mark may have set.
func Unmark(secret metav1.Object) {
	labels := secret.GetLabels()
	delete(labels, gardencorev1beta1.LabelReferenceSecretBinding)
	for key := range labels {
		if strings.HasPrefix(key, gardencorev1beta1.LabelPrefixShootProvider) {
			delete(labels, key)
		}
	}
	secret.SetLabels(labels)
}

// Shared tells whether another binding that stays references the Secret of the binding.
func Shared(binding *gardencorev1beta1.SecretBinding, all []gardencorev1beta1.SecretBinding) bool {
	for i := range all {
		other := &all[i]
		if other.UID != binding.UID && other.DeletionTimestamp == nil && other.SecretRef == binding.SecretRef {
			return true
		}
	}
	return false
}

func secretOf(ctx context.Context, reader client.Reader, binding *gardencorev1beta1.SecretBinding) (*metav1.PartialObjectMetadata, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	key := client.ObjectKey{Namespace: binding.SecretRef.Namespace, Name: binding.SecretRef.Name}
	if err := reader.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("read secret %q of secret binding %q: %w", key, binding.Name, err)
	}
	return secret, nil
}

func change(ctx context.Context, c client.Client, secret *metav1.PartialObjectMetadata, mutate func()) error {
	before := secret.DeepCopy()
	mutate()
	if equality.Semantic.DeepEqual(before, secret) {
		return nil
	}
	if err := c.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("mark secret %q: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}

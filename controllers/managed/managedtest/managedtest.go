// SPDX-License-Identifier: Apache-2.0

// Package managedtest takes the place of a resource manager in tests with a fake seed: whenever somebody reads a ManagedResource, its
// objects are in the shoot and healthy.
package managedtest

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

// Manager applies to one cluster, and deletes from it.
type Manager struct{ Cluster client.Client }

// Funcs are for the fake client of a seed.
func (m *Manager) Funcs() interceptor.Funcs { return interceptor.Funcs{Get: m.Get, Delete: m.Delete} }

// Get reads an object; a ManagedResource is reconciled first.
func (m *Manager) Get(ctx context.Context, seed client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	if err := seed.Get(ctx, key, obj, options...); err != nil {
		return err
	}
	mr, ok := obj.(*gardenresourcesv1alpha1.ManagedResource)
	if !ok {
		return nil
	}
	bundle, err := manifests(ctx, seed, mr)
	if err != nil {
		return err
	}
	for _, object := range bundle.Objects {
		if err := m.engine().Apply(ctx, object); err != nil {
			return err
		}
	}
	mr.Status.SecretsDataChecksum, mr.Status.ObservedGeneration = &bundle.Checksum, mr.Generation
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy,
	} {
		mr.Status.Conditions = append(mr.Status.Conditions, gardencorev1beta1.Condition{Type: kind, Status: gardencorev1beta1.ConditionTrue})
	}

	return nil
}

// Delete deletes an object; the objects of a ManagedResource go first, unless they are to be kept.
func (m *Manager) Delete(ctx context.Context, seed client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
	if obj.GetObjectKind().GroupVersionKind().Kind == "ManagedResource" {
		mr := &gardenresourcesv1alpha1.ManagedResource{}
		if err := seed.Get(ctx, client.ObjectKeyFromObject(obj), mr); err != nil {
			return err
		}
		bundle, err := manifests(ctx, seed, mr)
		if err != nil {
			return err
		}
		for _, object := range bundle.Objects {
			if mr.Spec.KeepObjects != nil && *mr.Spec.KeepObjects {
				break
			}
			if err := m.engine().Delete(ctx, object); err != nil {
				return err
			}
		}
	}

	return seed.Delete(ctx, obj, options...)
}

func (m *Manager) engine() deploy.Engine {
	return deploy.Engine{Client: m.Cluster, Owner: managedresource.FieldOwner, Clock: clock.RealClock{}}
}

func manifests(ctx context.Context, seed client.Reader, mr *gardenresourcesv1alpha1.ManagedResource) (managedresource.Bundle, error) {
	var secrets []*corev1.Secret
	for _, ref := range mr.Spec.SecretRefs {
		secret := &corev1.Secret{}
		if err := seed.Get(ctx, client.ObjectKey{Namespace: mr.Namespace, Name: ref.Name}, secret); err != nil {
			return managedresource.Bundle{}, fmt.Errorf("get the manifests of ManagedResource %q: %w", mr.Name, err)
		}
		secrets = append(secrets, secret)
	}

	return managedresource.Decode(secrets...), nil
}

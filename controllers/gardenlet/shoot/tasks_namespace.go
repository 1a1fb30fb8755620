// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/namespace"
	"github.com/terrarium-garden/terrarium/controllers/extension"
)

// namespaceDeploy makes the namespace of the shoot in the seed, and what control planes need from the seed as a whole.
func (o *operation) namespaceDeploy(ctx context.Context) error {
	v := namespace.Values{
		Name: o.namespace, UID: string(o.shoot.Status.UID), Provider: o.shoot.Spec.Provider.Type, SeedProvider: o.seed.Spec.Provider.Type,
	}
	if n := o.shoot.Spec.Networking; n != nil && n.Type != nil {
		v.Network = *n.Type
	}
	if o.shoot.Spec.Purpose != nil {
		v.Purpose = string(*o.shoot.Spec.Purpose)
	}
	live := &corev1.Namespace{}
	err := o.r.SeedClient.Get(ctx, client.ObjectKey{Name: o.namespace}, live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get namespace %q: %w", o.namespace, err)
	}
	if err == nil && live.DeletionTimestamp != nil {
		return fmt.Errorf("namespace %q is still being deleted", o.namespace)
	}
	return o.r.seedEngine().Apply(ctx, slices.Concat(namespace.PriorityClasses(), namespace.Render(v))...)
}

// clusterIdentityStatus publishes the identity once; it never changes after that.
func (o *operation) clusterIdentityStatus(ctx context.Context) error {
	return o.status.change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
		if s.ClusterIdentity == nil {
			s.ClusterIdentity = new(o.clusterIdentity())
		}
		return s
	})
}

// cloudProviderSecret copies the credentials that the shoot's owner gave to where extensions find them.
func (o *operation) cloudProviderSecret(ctx context.Context) error {
	source, err := o.credentials(ctx)
	if err != nil {
		return err
	}
	return o.r.seedEngine().Apply(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: gardencorev1beta1.SecretCloudProvider},
		Type:       corev1.SecretTypeOpaque,
		Data:       source.Data,
	})
}

// credentials finds the Secret behind the shoot's SecretBinding.
func (o *operation) credentials(ctx context.Context) (*corev1.Secret, error) {
	if o.shoot.Spec.SecretBindingName == nil {
		return nil, extension.WithCodes(
			errors.New("the shoot names no secret binding: set spec.secretBindingName, other credentials are not served by this garden"),
			gardencorev1beta1.ErrorCodeConfigurationProblem,
		)
	}
	binding := &gardencorev1beta1.SecretBinding{}
	key := client.ObjectKey{Namespace: o.shoot.Namespace, Name: *o.shoot.Spec.SecretBindingName}
	if err := o.r.GardenReader.Get(ctx, key, binding); err != nil {
		return nil, fmt.Errorf("get secret binding %q: %w", key, err)
	}
	secret := &corev1.Secret{}
	key = client.ObjectKey{Namespace: binding.SecretRef.Namespace, Name: binding.SecretRef.Name}
	if err := o.r.GardenReader.Get(ctx, key, secret); err != nil {
		return nil, fmt.Errorf("get credentials %q of secret binding %q: %w", key, binding.Name, err)
	}
	return secret, nil
}

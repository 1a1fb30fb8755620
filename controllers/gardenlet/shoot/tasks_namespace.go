// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/namespace"
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

// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/managed"
)

// labelWebhooksOf marks the ManagedResources with the webhooks of an extension.
const labelWebhooksOf = "extensions.gardener.cloud/webhooks-of"

// shootSet is what registers the webhooks in the shoot of a namespace. The cleanup before the deletion of a shoot spares them, because
// the resource manager would bring them again.
func (k *Keeper) shootSet(namespace string) managed.Set {
	return managed.Set{
		Namespace: namespace, Name: "extension-" + k.Set.Extension + "-shoot-webhooks", Labels: map[string]string{labelWebhooksOf: k.Set.Extension},
		InjectLabels: map[string]string{gardencorev1beta1.LabelShootNoCleanup: "true"},
	}
}

// Register registers the webhooks in the shoot of a namespace. An extension calls it when it acts on an object of the shoot. It does not
// wait until the shoot has them. While there is no certificate yet, it is an error that passes by itself.
func (k *Keeper) Register(ctx context.Context, namespace string) error {
	now := k.serving.Load()
	if now == nil {
		return errNotReady
	}
	return k.tellShoot(ctx, namespace, now.bundle)
}

// Unregister removes them from the shoot of a namespace, and reports whether they are gone; it is repeated until they are. If the shoot
// goes or moves, forget leaves them there to whom they belong next.
func (k *Keeper) Unregister(ctx context.Context, namespace string, forget bool) (gone bool, err error) {
	if forget {
		return k.shootSet(namespace).Forget(ctx, k.engine())
	}
	return k.shootSet(namespace).Delete(ctx, k.engine())
}

func (k *Keeper) tellShoot(ctx context.Context, namespace string, bundle []byte) error {
	configuration, err := k.Set.inShoot(k.Client.Scheme(), k.Home.shoot(bundle))
	if err != nil {
		return err
	}
	return k.shootSet(namespace).Apply(ctx, k.engine(), configuration)
}

// tellShoots brings the bundle to every shoot that has the webhooks (EXT-WH-6). One that fails does not keep the others from it.
func (k *Keeper) tellShoots(ctx context.Context, bundle []byte) error {
	registered := &gardenresourcesv1alpha1.ManagedResourceList{}
	if err := k.Client.List(ctx, registered, client.MatchingLabels{labelWebhooksOf: k.Set.Extension}); err != nil {
		return fmt.Errorf("list the shoots with webhooks: %w", err)
	}
	var errs []error
	for i := range registered.Items {
		mr := &registered.Items[i]
		if mr.DeletionTimestamp != nil || mr.Name != k.shootSet(mr.Namespace).Name {
			continue
		}
		errs = append(errs, k.tellExisting(ctx, mr, bundle))
	}
	return errors.Join(errs...)
}

// tellExisting changes the manifests only: a ManagedResource that was deleted meanwhile must not come again.
func (k *Keeper) tellExisting(ctx context.Context, mr *gardenresourcesv1alpha1.ManagedResource, bundle []byte) error {
	configuration, err := k.Set.inShoot(k.Client.Scheme(), k.Home.shoot(bundle))
	if err != nil {
		return err
	}
	err = k.shootSet(mr.Namespace).Rewrite(ctx, k.engine(), configuration)
	if err != nil {
		return fmt.Errorf("bring the certificate of webhooks to the shoot of namespace %q: %w", mr.Namespace, err)
	}
	return nil
}

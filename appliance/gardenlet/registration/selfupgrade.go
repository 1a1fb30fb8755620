// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

const (
	// SelfUpgradeName is the ConfigMap in the seed with the Gardenlet that is to be made in the garden.
	SelfUpgradeName = "gardenlet-selfupgrade-config"
	selfUpgradeKey  = "gardenlet.yaml"
)

// AdoptGardenlet makes the Gardenlet of the seed in the garden from a ConfigMap that somebody has left in the seed, and deletes that
// (GLET-GL-2). A Gardenlet that exists stays as it is. Nothing of it keeps a seed from its shoots: why is what has to be mended in the
// ConfigMap, which stays then, and err is what passes by itself.
func (r Registrar) AdoptGardenlet(ctx context.Context, seed client.Client) (why, err error) {
	given := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: SelfUpgradeName}
	if err := seed.Get(ctx, key, given); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get ConfigMap %q of the seed: %w", key, err)
	}
	wanted := &gardenseedmanagementv1alpha1.Gardenlet{}
	if err := yaml.UnmarshalStrict([]byte(given.Data[selfUpgradeKey]), wanted); err != nil {
		return fmt.Errorf("key %q: %w", selfUpgradeKey, err), nil
	}
	if own := (client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: r.Template.Name}); client.ObjectKeyFromObject(wanted) != own {
		return fmt.Errorf("key %q: it is Gardenlet %q and not %q", selfUpgradeKey, client.ObjectKeyFromObject(wanted), own), nil
	}
	// An exported object says more about itself than a new one may.
	wanted.ObjectMeta = metav1.ObjectMeta{Namespace: wanted.Namespace, Name: wanted.Name, Labels: wanted.Labels, Annotations: wanted.Annotations}
	switch err := r.Garden.Create(ctx, wanted); {
	case err == nil || apierrors.IsAlreadyExists(err):
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err):
		return fmt.Errorf("the garden refuses it: %w", err), nil
	default:
		return nil, fmt.Errorf("create Gardenlet %q: %w", wanted.Name, err)
	}
	if err := client.IgnoreNotFound(seed.Delete(ctx, given)); err != nil {
		return nil, fmt.Errorf("delete ConfigMap %q of the seed: %w", key, err)
	}
	return nil, nil
}

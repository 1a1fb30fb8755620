// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
)

// fieldOwner owns what the gardenlet applies to its seed.
const fieldOwner = "gardenlet"

// Engine deploys to a seed as the gardenlet.
func Engine(seedClient client.Client, clk clock.Clock) deploy.Engine {
	return deploy.Engine{Client: seedClient, Owner: fieldOwner, Clock: clk}
}

// Definitions are the custom resource definitions that every seed has.
func Definitions() ([]client.Object, error) { return crds.Objects() }

// ApplyDefinitions brings the custom resource definitions into a seed and waits until they are served. Controllers that
// watch extension objects can only start after that.
func ApplyDefinitions(ctx context.Context, engine deploy.Engine) error {
	definitions, err := Definitions()
	if err != nil {
		return err
	}
	if err := engine.Apply(ctx, definitions...); err != nil {
		return err
	}
	return engine.WaitReady(ctx, definitions...)
}

// ClusterIdentity is what a seed is known by: the identity it was given, or else the UID of its namespace kube-system
// (GLET-SEED-4).
func ClusterIdentity(ctx context.Context, seedClient client.Client) (string, error) {
	given := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	err := seedClient.Get(ctx, key, given)
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("get ConfigMap %q of the seed: %w", key, err)
	}
	if identity := given.Data[gardencorev1beta1.ConfigMapClusterIdentity]; identity != "" {
		return identity, nil
	}
	namespace := &corev1.Namespace{}
	if err := seedClient.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, namespace); err != nil {
		return "", fmt.Errorf("get namespace %q of the seed: %w", metav1.NamespaceSystem, err)
	}
	if namespace.UID == "" {
		return "", errors.New("namespace kube-system of the seed has no UID")
	}
	return string(namespace.UID), nil
}

// applyIdentity writes the identity down in the seed, unless somebody else has done so.
func applyIdentity(ctx context.Context, engine deploy.Engine, identity string) error {
	existing := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	err := engine.Client.Get(ctx, key, existing)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("get ConfigMap %q of the seed: %w", key, err)
	}
	if err == nil && existing.Data[gardencorev1beta1.ClusterIdentityOrigin] != gardencorev1beta1.ClusterIdentityOriginSeed {
		return nil
	}
	return engine.Apply(ctx, identityMap(identity))
}

func identityMap(identity string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity},
		Immutable:  new(true),
		Data: map[string]string{
			gardencorev1beta1.ConfigMapClusterIdentity: identity,
			gardencorev1beta1.ClusterIdentityOrigin:    gardencorev1beta1.ClusterIdentityOriginSeed,
		},
	}
}

// gardenNamespace is where the gardenlet and the components for a whole seed live.
func gardenNamespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   gardencorev1beta1.NamespaceGarden,
		Labels: map[string]string{gardencorev1beta1.LabelRole: gardencorev1beta1.NamespaceGarden},
	}}
}

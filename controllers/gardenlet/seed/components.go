// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/controllers/extension/policy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// fieldOwner owns what the gardenlet applies to its seed.
const fieldOwner = "gardenlet"

// Engine deploys to a seed as the gardenlet.
func Engine(seedClient client.Client, clk clock.Clock) deploy.Engine {
	return deploy.Engine{Client: seedClient, Owner: fieldOwner, Clock: clk}
}

// ReconcileGraph is the flow that prepares a cluster for shoots. The identity is that of the cluster. Without an image, there is no
// resource manager (GLET-SEED-8).
func ReconcileGraph(engine deploy.Engine, identity string, manager ResourceManagerOptions, addOns AddOns) (*flow.Graph, error) {
	return flow.Compile("Seed reconciliation", append([]flow.Task{
		{
			ID: "definitions", Title: "Deploying custom resource definitions", Timeout: time.Minute,
			Do: func(ctx context.Context) error { return ApplyDefinitions(ctx, engine) },
		},
		{
			ID: "namespace", Title: "Deploying the namespace garden", Timeout: time.Minute,
			Do: func(ctx context.Context) error { return engine.Apply(ctx, gardenNamespace()) },
		},
		{
			ID: "identity", Title: "Deploying the cluster identity", Timeout: time.Minute, After: []flow.ID{"definitions", "namespace"},
			Do: func(ctx context.Context) error { return applyIdentity(ctx, engine, identity) },
		},
		{
			ID: "resource-manager", Title: "Deploying the resource manager", Timeout: time.Minute, After: []flow.ID{"identity"}, Skip: manager.Image == "",
			Do: func(ctx context.Context) error { return ApplyResourceManager(ctx, engine, manager) },
		},
	}, addOns.deploy()...)...)
}

// ApplyDefinitions applies the custom resource definitions of the extension contract to a seed, with the policy that checks its objects, and
// waits until they are served. Controllers that watch extension objects can only start after that.
func ApplyDefinitions(ctx context.Context, engine deploy.Engine) error {
	definitions, err := crds.Objects()
	if err != nil {
		return err
	}
	known, err := policy.Known(engine.Client.RESTMapper())
	if err != nil {
		return err
	}
	objects := definitions
	if known {
		objects = append(slices.Clone(definitions), policy.Objects()...)
	}
	if err := engine.Apply(ctx, objects...); err != nil {
		return err
	}
	return engine.WaitReady(ctx, definitions...)
}

// ClusterIdentity is the identity that a seed was given, or else the UID of its namespace kube-system (GLET-SEED-4).
func ClusterIdentity(ctx context.Context, seedClient client.Client) (string, error) {
	given, err := identityMap(ctx, seedClient)
	if err != nil {
		return "", err
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

// applyIdentity writes the identity into the seed, unless somebody else has done so.
func applyIdentity(ctx context.Context, engine deploy.Engine, identity string) error {
	existing, err := identityMap(ctx, engine.Client)
	if err != nil || existing.ResourceVersion != "" && !written(existing) {
		return err
	}
	return engine.Apply(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity},
		Immutable:  new(true),
		Data: map[string]string{
			gardencorev1beta1.ConfigMapClusterIdentity: identity,
			gardencorev1beta1.ClusterIdentityOrigin:    gardencorev1beta1.ClusterIdentityOriginSeed,
		},
	})
}

// identityMap reads the ConfigMap with the identity of the seed. It has no resource version if it does not exist.
func identityMap(ctx context.Context, seedClient client.Client) (*corev1.ConfigMap, error) {
	identity := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	if err := seedClient.Get(ctx, key, identity); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get ConfigMap %q of the seed: %w", key, err)
	}
	return identity, nil
}

// written reports whether the gardenlet has written the identity.
func written(identity *corev1.ConfigMap) bool {
	return identity.Data[gardencorev1beta1.ClusterIdentityOrigin] == gardencorev1beta1.ClusterIdentityOriginSeed
}

// gardenNamespace is the namespace of the gardenlet and of the components for a whole seed.
func gardenNamespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   gardencorev1beta1.NamespaceGarden,
		Labels: map[string]string{gardencorev1beta1.LabelRole: gardencorev1beta1.NamespaceGarden},
	}}
}

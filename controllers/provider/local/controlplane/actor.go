// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

const (
	// look is how long one call waits for the Deployment before it gives the worker of the queue back.
	look = 20 * time.Second
	poll = time.Second
)

// Actor keeps the cloud controller manager of each shoot.
type Actor struct {
	// Reader reads from the seed without a cache.
	Reader client.Reader
	// Seed applies objects in the seed.
	Seed deploy.Engine
	// Image holds the terrarium binary.
	Image string
}

// Reconcile deploys the cloud controller manager and waits until it runs.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.ControlPlane, cluster *engine.Cluster) error {
	if cluster == nil {
		return errors.New("there is no Cluster object for the namespace")
	}
	secret := &corev1.Secret{}
	if err := a.Reader.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: engine.ShootAccessSecret}, secret); err != nil {
		return fmt.Errorf("read access to the shoot: %w", err)
	}
	sum := sha256.Sum256(secret.Data[engine.KubeconfigKey])
	values := Values{Namespace: object.Namespace, Image: a.Image, Replicas: 1, KubeconfigChecksum: hex.EncodeToString(sum[:8])}
	if cluster.Hibernated() {
		values.Replicas = 0
	}
	objects := Render(values)
	if err := a.Seed.Apply(ctx, objects...); err != nil {
		return fmt.Errorf("deploy cloud controller manager: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, look)
	defer cancel()
	err := a.Seed.WaitReady(limited, objects...)
	if notReady, found := errors.AsType[*deploy.NotReadyError](err); found && notReady.Cause != nil && ctx.Err() == nil {
		return kit.Wait(poll, notReady.Error())
	}
	return err
}

// Delete removes the cloud controller manager.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.ControlPlane, _ *engine.Cluster) error {
	return a.Seed.Delete(ctx, Render(Values{Namespace: object.Namespace})...)
}

// Migrate removes the cloud controller manager.
func (a *Actor) Migrate(ctx context.Context, object *gardenextensionsv1alpha1.ControlPlane, cluster *engine.Cluster) error {
	return a.Delete(ctx, object, cluster)
}

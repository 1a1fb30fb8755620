// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// remains are what a deletion finds in the seed.
type remains struct {
	// namespace is there and not in deletion.
	namespace bool
	// apiServer is deployed, available tells whether it serves.
	apiServer, available bool
	// infrastructure, network and worker objects exist.
	infrastructure, network, worker bool
	workerless                      bool
}

// cleanable tells whether there can be anything inside the shoot that has to be removed in order, and a way to do so. An API
// server that never served, on which nothing was built, has nothing in it.
func (f remains) cleanable() bool {
	return f.namespace && f.apiServer && (f.infrastructure || f.workerless) && (f.available || f.network || f.worker)
}

// inspect looks for what is there of a shoot.
func (g ground) inspect(ctx context.Context) (remains, error) {
	found := remains{workerless: !g.facts.Workers()}
	namespace := &corev1.Namespace{}
	there, err := g.exists(ctx, namespace, client.ObjectKey{Name: g.facts.Namespace})
	if err != nil {
		return found, err
	}
	found.namespace = there && namespace.DeletionTimestamp == nil
	server := &appsv1.Deployment{}
	there, err = g.exists(ctx, server, client.ObjectKey{Namespace: g.facts.Namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer})
	if err != nil {
		return found, err
	}
	found.apiServer = there && server.DeletionTimestamp == nil
	if found.apiServer {
		found.available, _ = deploy.Healthy(server)
	}
	key := client.ObjectKey{Namespace: g.facts.Namespace, Name: g.facts.Shoot.Name}
	if found.infrastructure, err = g.exists(ctx, &gardenextensionsv1alpha1.Infrastructure{}, key); err != nil {
		return found, err
	}
	if found.network, err = g.exists(ctx, &gardenextensionsv1alpha1.Network{}, key); err != nil {
		return found, err
	}
	found.worker, err = g.exists(ctx, &gardenextensionsv1alpha1.Worker{}, key)
	return found, err
}

func (g ground) exists(ctx context.Context, obj client.Object, key client.ObjectKey) (bool, error) {
	err := g.seed.Get(ctx, key, obj)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for what is left in the seed: get %T %q: %w", obj, key, err)
	}
	return true, nil
}

// SPDX-License-Identifier: Apache-2.0

// Package selfhosted finds the self-hosted shoots in the cache of the garden's controllers, without a look at all others: a garden has
// thousands of shoots, of which few run their control plane on their own machines.
package selfhosted

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Field is the field of the index, for the cache of a test that has none yet.
const Field = "selfhosted"

const yes = "true"

// Index adds the index to the cache. It comes before the controllers that need it.
type Index struct{}

// AddToManager implements kit.Adder.
func (Index) AddToManager(clusters kit.Clusters) error {
	return kit.Index(clusters.Garden, &gardencorev1beta1.Shoot{}, Field, Value)
}

// Value returns the value of the index for a shoot, and nothing for one that is not self-hosted.
func Value(shoot *gardencorev1beta1.Shoot) []string {
	if !Is(shoot) {
		return nil
	}
	return []string{yes}
}

// Is reports whether a shoot is self-hosted. That never changes.
func Is(shoot *gardencorev1beta1.Shoot) bool { return query.SelfHosted(&shoot.Spec) }

// Shoots returns the self-hosted shoots. They are shared with the cache and must not be changed.
func Shoots(ctx context.Context, reader client.Reader) ([]gardencorev1beta1.Shoot, error) {
	shoots := &gardencorev1beta1.ShootList{}
	if err := reader.List(ctx, shoots, client.MatchingFields{Field: yes}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list self-hosted shoots: %w", err)
	}
	return shoots.Items, nil
}

// EnqueueAll enqueues all self-hosted shoots. The reader must read from the cache: a list that fails there also fails the manager, so no event
// is lost for good.
func EnqueueAll(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		shoots, err := Shoots(ctx, reader)
		if err != nil {
			return nil
		}
		requests := make([]reconcile.Request, 0, len(shoots))
		for i := range shoots {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&shoots[i])})
		}
		return requests
	})
}

// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"context"
	"net/http"
	"net/netip"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/guard"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Look looks at the cluster of a kubeconfig.
func Look(ctx context.Context, keep guard.Guard, limits Limits, raw []byte) Finding {
	return looker{guard: keep, limits: limits, decoding: &sync.Mutex{}}.look(ctx, raw)
}

// Proxied reports whether a session may use a proxy.
func Proxied() bool {
	s := open(&access{}, guard.Guard{}, DefaultLimits())
	transport, ok := s.client.Transport.(*http.Transport)
	return !ok || transport.Proxy != nil
}

// Classify replaces an error of the network by one for users.
func Classify(err error) error { return classify(err) }

// Indexed gives a client of a test the index that the manager has.
func Indexed(b *fake.ClientBuilder) *fake.ClientBuilder {
	return b.WithIndex(&gardencorev1beta1.Plant{}, secretField, func(object client.Object) []string {
		p, _ := object.(*gardencorev1beta1.Plant)
		return []string{p.Spec.SecretRef.Name}
	})
}

// SeedNetworks are the networks of seeds, which are not for Plants.
func (r *Reconciler) SeedNetworks(ctx context.Context) ([]netip.Prefix, error) {
	return r.seedNetworks(ctx)
}

// Queue is the queue of the controller.
func (r *Reconciler) Queue() kit.Queue { return r.queue() }

// Plants and Projects note for whom plants count.
func (r *Reconciler) Plants() handler.EventHandler   { return r.shares.plants() }
func (r *Reconciler) Projects() handler.EventHandler { return r.shares.projects() }

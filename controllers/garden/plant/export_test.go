// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"context"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/plant/guard"
)

// Look looks at the cluster of a kubeconfig.
func Look(ctx context.Context, keep guard.Guard, limits Limits, raw []byte) Finding {
	return looker{guard: keep, limits: limits, decoding: &sync.Mutex{}}.look(ctx, raw)
}

// Indexed gives a client of a test the index that the manager has.
func Indexed(b *fake.ClientBuilder) *fake.ClientBuilder {
	return b.WithIndex(&gardencorev1beta1.Plant{}, secretField, func(object client.Object) []string {
		p, _ := object.(*gardencorev1beta1.Plant)
		return []string{p.Spec.SecretRef.Name}
	})
}

// Places bounds the looks in a namespace.
func (r *Reconciler) Places(limit int) { r.places.limit = limit }

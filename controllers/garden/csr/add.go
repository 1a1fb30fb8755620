// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "csr"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler approves signing requests of gardenlets. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden.
	Client client.Client
	// Live reaches the garden around the cache: whether a token has been used must be known, not remembered.
	Live client.Reader
	// Clock stamps the answer, and tells which certificates have expired.
	Clock clock.PassiveClock
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Live == nil {
		r.Live = mgr.GetAPIReader()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&certificatesv1.CertificateSigningRequest{}, builder.WithPredicates(predicate.NewPredicateFuncs(isOpen))).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

func isOpen(object client.Object) bool {
	request, ok := object.(*certificatesv1.CertificateSigningRequest)
	return ok && Open(request)
}

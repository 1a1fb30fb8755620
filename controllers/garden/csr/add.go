// SPDX-License-Identifier: Apache-2.0

package csr

import (
	certificatesv1 "k8s.io/api/certificates/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "csr"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler approves signing requests of gardenlets. It reads around the cache whether a token has been used.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&certificatesv1.CertificateSigningRequest{}, builder.WithPredicates(predicate.NewPredicateFuncs(isOpen)))
	return kit.Complete(b, controllerName, r)
}

func isOpen(object client.Object) bool {
	request, ok := object.(*certificatesv1.CertificateSigningRequest)
	return ok && Open(request)
}

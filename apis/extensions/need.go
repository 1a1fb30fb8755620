// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
)

// Offer is a kind of extension object together with the type of it that an extension acts on.
type Offer struct {
	// Kind is the kind of the extension object, Type its spec.type.
	Kind, Type string
}

func (o Offer) String() string { return o.Kind + "/" + o.Type }

// Need is an offer that an object of the garden asks for.
type Need struct {
	Offer

	// Path is the field that asks for the offer. It is nil for an extension that is enabled for every cluster and for a domain
	// of the garden, for which no field asks.
	Path *field.Path

	// cluster is the type of the cluster that asks, and workerless says that it has no worker pools. They are used for kind
	// Extension only.
	cluster    gardencorev1beta1.ClusterType
	workerless bool
}

// OfferedBy reports whether a registration is the primary controller of what is needed and supports such a cluster
// (API-EXTVAL-1, API-EXTVAL-4).
func (n Need) OfferedBy(r gardencorev1beta1.ControllerRegistration) bool {
	return slices.ContainsFunc(r.Spec.Resources, func(resource gardencorev1beta1.ControllerResource) bool {
		return n.Offer == OfferOf(resource) && query.PrimaryResource(resource) && n.suitedBy(resource)
	})
}

func (n Need) suitedBy(r gardencorev1beta1.ControllerResource) bool {
	if n.Kind != kind.Extension {
		return true
	}
	if n.workerless && !supportsWorkerless(r) {
		return false
	}
	return len(r.ClusterCompatibility) == 0 && n.cluster == gardencorev1beta1.ClusterTypeShoot ||
		slices.Contains(r.ClusterCompatibility, n.cluster)
}

// OfferOf returns what a resource of a registration offers.
func OfferOf(r gardencorev1beta1.ControllerResource) Offer { return Offer{Kind: r.Kind, Type: r.Type} }

// Offers returns the offers that are needed, each once, sorted.
func Offers(needs []Need) []Offer {
	all := make([]Offer, 0, len(needs))
	for _, n := range needs {
		all = append(all, n.Offer)
	}
	slices.SortFunc(all, func(a, b Offer) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Type, b.Type)) })
	return slices.Compact(all)
}

// needs collects needs; an empty type adds nothing.
type needs []Need

func (n *needs) add(path *field.Path, name string, kinds ...string) {
	if name == "" {
		return
	}
	for _, k := range kinds {
		*n = append(*n, Need{Offer: Offer{Kind: k, Type: name}, Path: path})
	}
}

// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
)

// AddOn is an extension of kind Extension that a shoot or a seed gets.
type AddOn struct {
	// Type is the type of the extension, and the name of its object.
	Type string
	// ProviderConfig is what the shoot or seed configures; only the extension understands it.
	ProviderConfig *runtime.RawExtension
	// Reconcile, Delete and Migrate are the points at which the extension acts in operations on shoots.
	Reconcile, Delete, Migrate gardencorev1beta1.ControllerResourceLifecycleStrategy
	// Timeout is how long to wait for the extension; zero is as long as for others of its kind.
	Timeout time.Duration
}

// AddOns returns the extensions of kind Extension that a shoot gets, sorted by type: at which points they act and how long they may
// take is up to their registrations (EXT-EXT-2, EXT-EXT-3).
func AddOns(s *gardencorev1beta1.ShootSpec, registrations []gardencorev1beta1.ControllerRegistration) []AddOn {
	return addOns(EnabledForShoot(s, registrations), s.Extensions, registrations)
}

// AddOnsOfSeed returns those that a seed gets, sorted by type. There is no point in an operation on a seed to choose: its API server
// is there before and after it.
func AddOnsOfSeed(s *gardencorev1beta1.SeedSpec, registrations []gardencorev1beta1.ControllerRegistration) []AddOn {
	return addOns(EnabledForSeed(s, registrations), s.Extensions, registrations)
}

func addOns(enabled []string, listed []gardencorev1beta1.Extension, registrations []gardencorev1beta1.ControllerRegistration) []AddOn {
	all := make([]AddOn, 0, len(enabled))
	for _, name := range enabled {
		a := AddOn{
			Type: name, Reconcile: gardencorev1beta1.ControllerResourceLifecycleStrategyAfterKubeAPIServer,
			Delete:  gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer,
			Migrate: gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer,
		}
		for i := range listed {
			if listed[i].Type == name {
				a.ProviderConfig = listed[i].ProviderConfig
			}
		}
		a.follow(registrations)
		all = append(all, a)
	}
	return all
}

// follow takes over what the primary registration of the type says.
func (a *AddOn) follow(registrations []gardencorev1beta1.ControllerRegistration) {
	for i := range registrations {
		for _, resource := range registrations[i].Spec.Resources {
			if OfferOf(resource) != (Offer{Kind: kind.Extension, Type: a.Type}) || !query.PrimaryResource(resource) {
				continue
			}
			if resource.ReconcileTimeout != nil {
				a.Timeout = resource.ReconcileTimeout.Duration
			}
			if l := resource.Lifecycle; l != nil {
				a.Reconcile, a.Delete, a.Migrate = ptr.Deref(l.Reconcile, a.Reconcile), ptr.Deref(l.Delete, a.Delete), ptr.Deref(l.Migrate, a.Migrate)
			}
		}
	}
}

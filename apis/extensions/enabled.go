// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
)

// cluster is a seed or shoot for which extensions of kind Extension are enabled.
type cluster struct {
	sort       gardencorev1beta1.ClusterType
	workerless bool
}

// EnabledForShoot lists the types of the extensions of kind Extension that a shoot gets, sorted: those in its spec and those
// that are enabled for every shoot, without those that it disables. A shoot without workers gets only extensions that
// support such shoots (GCM-CR-3, API-EXTLAB-2).
func EnabledForShoot(s *gardencorev1beta1.ShootSpec, registrations []gardencorev1beta1.ControllerRegistration) []string {
	return types(enabled(s.Extensions, nil, cluster{
		sort: gardencorev1beta1.ClusterTypeShoot, workerless: query.Workerless(s),
	}, registrations))
}

// EnabledForSeed lists the types of the extensions of kind Extension that a seed gets, sorted.
func EnabledForSeed(s *gardencorev1beta1.SeedSpec, registrations []gardencorev1beta1.ControllerRegistration) []string {
	return types(enabled(s.Extensions, nil, cluster{sort: gardencorev1beta1.ClusterTypeSeed}, registrations))
}

func types(needed []Need) []string {
	var names []string
	for _, o := range Offers(needed) {
		names = append(names, o.Type)
	}
	return names
}

// listed returns the extensions in the spec, whether they are offered or not.
func listed(
	all []gardencorev1beta1.Extension, path *field.Path, sort gardencorev1beta1.ClusterType, workerless bool,
) needs {
	var found needs
	for i, e := range all {
		if e.Disabled == nil || !*e.Disabled {
			found = append(found, Need{
				Offer: Offer{Kind: kind.Extension, Type: e.Type}, Path: path.Index(i).Child("type"), cluster: sort, workerless: workerless,
			})
		}
	}
	return found
}

// enabled returns the extensions that are listed and those that are enabled for every such cluster and not disabled, without
// those that do not support the cluster.
func enabled(
	list []gardencorev1beta1.Extension, path *field.Path, of cluster, registrations []gardencorev1beta1.ControllerRegistration,
) needs {
	all := listed(list, path, of.sort, of.workerless)
	mentioned, unsupported := map[string]bool{}, map[string]bool{}
	for _, e := range list {
		mentioned[e.Type] = true
	}
	for i := range registrations {
		for _, resource := range registrations[i].Spec.Resources {
			if resource.Kind != kind.Extension {
				continue
			}
			if everywhere(resource, of.sort) && !mentioned[resource.Type] {
				all = append(all, Need{Offer: OfferOf(resource), cluster: of.sort, workerless: of.workerless})
			}
			if of.workerless && !supportsWorkerless(resource) {
				unsupported[resource.Type] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(n Need) bool { return unsupported[n.Type] })
}

// everywhere reports whether an extension is enabled for every cluster of a type unless the cluster disables it. The older
// field applies to shoots.
func everywhere(resource gardencorev1beta1.ControllerResource, sort gardencorev1beta1.ClusterType) bool {
	return slices.Contains(resource.AutoEnable, sort) ||
		sort == gardencorev1beta1.ClusterTypeShoot && resource.GloballyEnabled != nil && *resource.GloballyEnabled
}

func supportsWorkerless(resource gardencorev1beta1.ControllerResource) bool {
	return resource.WorkerlessSupported != nil && *resource.WorkerlessSupported
}

// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/offer"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// check validates a shoot against the offer of its profile; unchanged values are accepted (API-SVAL-11, 13 to 17, 19, 20).
func check(q request, o offer.Offer) field.ErrorList {
	path := field.NewPath("spec")
	spec, old := &q.shoot.Spec, &q.old.Spec
	var errs field.ErrorList
	if spec.Provider.Type != o.Profile.Type {
		errs = append(errs, field.NotSupported(path.Child("provider", "type"), spec.Provider.Type, []string{o.Profile.Type}))
	}
	errs = append(errs, checkVersion(&spec.Kubernetes.Version, &old.Kubernetes.Version, path.Child("kubernetes", "version"), o)...)
	region := o.Region(spec.Region)
	if region == nil && spec.Region != old.Region {
		names := names(o.Profile.Regions, func(r gardencorev1beta1.Region) string { return r.Name })
		errs = append(errs, field.NotSupported(path.Child("region"), spec.Region, names))
	}
	moves := !q.create && !equality.Semantic.DeepEqual(query.ProfileReference(spec), query.ProfileReference(old))
	for i := range spec.Provider.Workers {
		w := &spec.Provider.Workers[i]
		p := poolCheck{Offer: o, spec: spec, old: old, pool: w, was: query.Pool(old, w.Name), region: region, moves: moves}
		if p.was == nil {
			p.was = &gardencorev1beta1.Worker{}
		}
		errs = append(errs, p.all(path.Child("provider", "workers").Index(i))...)
	}
	errs = append(errs, checkRestrictions(spec, old, path.Child("accessRestrictions"), region)...)
	errs = append(errs, checkLimits(spec, old, path.Child("provider", "workers"), o)...)
	errs = append(errs, checkZonePinning(spec, old, path.Child("controlPlane", "zones"), o)...)
	return append(errs, checkRaw(spec, path)...)
}

// checkVersion checks that the Kubernetes version is offered and has not expired. Only an update from an existing version
// may choose an expired one (API-SVAL-13).
func checkVersion(value, old *string, path *field.Path, o offer.Offer) field.ErrorList {
	if value == nil || *value == "" || old != nil && *value == *old {
		return nil
	}
	updated := old != nil && *old != ""
	var offered []string
	for _, v := range o.Profile.Kubernetes.Versions {
		if v.Version == *value && (o.Active(v) || updated && query.Expired(v, o.Now)) {
			return nil
		}
		if !o.Active(v) {
			continue
		}
		mark := ""
		if query.Stage(v, o.Now) == gardencorev1beta1.VersionClassificationPreview {
			mark = " (preview)"
		}
		offered = append(offered, v.Version+mark)
	}
	return field.ErrorList{field.NotSupported(path, *value, offered)}
}

// checkRestrictions checks that the region supports the access restrictions of a shoot; existing ones are accepted.
func checkRestrictions(spec, old *gardencorev1beta1.ShootSpec, path *field.Path, region *gardencorev1beta1.Region) field.ErrorList {
	if region == nil {
		return nil
	}
	offered := names(region.AccessRestrictions, func(r gardencorev1beta1.AccessRestriction) string { return r.Name })
	before := names(old.AccessRestrictions, restrictionOf)
	var errs field.ErrorList
	for i, r := range spec.AccessRestrictions {
		if !slices.Contains(offered, r.Name) && !slices.Contains(before, r.Name) {
			errs = append(errs, field.NotSupported(path.Index(i).Child("name"), r.Name, offered))
		}
	}
	return errs
}

// checkLimits limits the minimum number of machines of a shoot (API-SVAL-20).
func checkLimits(spec, old *gardencorev1beta1.ShootSpec, path *field.Path, o offer.Offer) field.ErrorList {
	if o.Profile.Limits == nil || o.Profile.Limits.MaxNodesTotal == nil {
		return nil
	}
	limit, least := int64(*o.Profile.Limits.MaxNodesTotal), minima(spec)
	if least <= limit || least <= minima(old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("the pools have at least %d machines, but the CloudProfile allows %d", least, limit))}
}

// minima adds up in 64 bits: the sum of two pools could become negative in 32.
func minima(s *gardencorev1beta1.ShootSpec) int64 {
	sum := int64(0)
	for i := range s.Provider.Workers {
		sum += int64(s.Provider.Workers[i].Minimum)
	}
	return sum
}

// checkZonePinning rejects the choice of zones for a control plane if the profile does not allow it (API-SVAL-20).
func checkZonePinning(spec, old *gardencorev1beta1.ShootSpec, path *field.Path, o offer.Offer) field.ErrorList {
	pinned := func(s *gardencorev1beta1.ShootSpec) bool {
		return s.ControlPlane != nil && len(s.ControlPlane.Zones) > 0
	}
	if !pinned(spec) || pinned(old) || o.Profile.ControlPlane != nil && o.Profile.ControlPlane.AllowZonePinning {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "the CloudProfile does not let shoots choose the zones of their control plane")}
}

func names[T any](all []T, name func(T) string) []string {
	out := make([]string, 0, len(all))
	for _, one := range all {
		out = append(out, name(one))
	}
	return out
}

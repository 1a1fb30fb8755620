// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

const maxServiceRanges = 2

// ranges are the networks of one field. The networks of two fields must not overlap.
type ranges struct {
	path  *field.Path
	cidrs []string
}

// networks checks that all ranges are valid and do not overlap (OPER-WH-9).
func networks(s *gardenoperatorv1alpha1.GardenSpec, path *field.Path) field.ErrorList {
	runtime, virtual := path.Child("runtimeCluster", "networking"), path.Child("virtualCluster", "networking")
	own := &s.RuntimeCluster.Networking
	var errs field.ErrorList
	if len(own.Pods) == 0 != (len(own.Services) == 0) || len(own.Nodes)+len(own.BlockCIDRs) > 0 && len(own.Pods) == 0 {
		errs = append(errs, field.Required(runtime, "must have pods and services, at least one range each"))
	}
	errs = append(errs, apart([]ranges{
		{runtime.Child("nodes"), own.Nodes},
		{runtime.Child("pods"), own.Pods},
		{runtime.Child("services"), own.Services},
		{virtual.Child("services"), s.VirtualCluster.Networking.Services},
	})...)
	for i, cidr := range own.BlockCIDRs {
		errs = append(errs, check.Network(cidr, runtime.Child("blockCIDRs").Index(i))...)
	}
	errs = append(errs, families(own.IPFamilies, runtime.Child("ipFamilies"))...)
	return append(errs, serviceRanges(s.VirtualCluster.Networking.Services, virtual.Child("services"))...)
}

func apart(all []ranges) field.ErrorList {
	var errs field.ErrorList
	type known struct {
		path   *field.Path
		prefix netip.Prefix
	}
	var before []known
	for _, r := range all {
		var here []known
		for i, cidr := range r.cidrs {
			path := r.path.Index(i)
			if wrong := check.Network(cidr, path); len(wrong) > 0 {
				errs = append(errs, wrong...)
				continue
			}
			prefix := netip.MustParsePrefix(cidr)
			for _, other := range before {
				if other.prefix.Overlaps(prefix) {
					errs = append(errs, field.Invalid(path, cidr, fmt.Sprintf("must not overlap with %s %s", other.path, other.prefix)))
				}
			}
			here = append(here, known{path, prefix})
		}
		before = append(before, here...)
	}
	return errs
}

func families(all []gardencorev1beta1.IPFamily, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, f := range all {
		errs = append(errs, check.OneOf(f, path.Index(i), gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6)...)
		if slices.Index(all, f) < i {
			errs = append(errs, field.Duplicate(path.Index(i), f))
		}
	}
	return errs
}

// serviceRanges checks that there are at most two ranges for Services, of different families.
func serviceRanges(all []string, path *field.Path) field.ErrorList {
	if len(all) > maxServiceRanges {
		return field.ErrorList{field.TooMany(path, len(all), maxServiceRanges)}
	}
	if len(all) < maxServiceRanges {
		return nil
	}
	first, err := netip.ParsePrefix(all[0])
	second, secondErr := netip.ParsePrefix(all[1])
	if err == nil && secondErr == nil && first.Addr().Is4() == second.Addr().Is4() {
		return field.ErrorList{field.Invalid(path, all, "must be of different families")}
	}
	return nil
}

// networksUpdate checks that ranges are only added at the end of a list (OPER-WH-9).
func networksUpdate(s, old *gardenoperatorv1alpha1.GardenSpec, path *field.Path) field.ErrorList {
	runtime, virtual := path.Child("runtimeCluster", "networking"), path.Child("virtualCluster", "networking")
	now, was := &s.RuntimeCluster.Networking, &old.RuntimeCluster.Networking
	errs := appended(now.IPFamilies, was.IPFamilies, runtime.Child("ipFamilies"))
	errs = append(errs, appended(now.Nodes, was.Nodes, runtime.Child("nodes"))...)
	errs = append(errs, appended(now.Pods, was.Pods, runtime.Child("pods"))...)
	errs = append(errs, appended(now.Services, was.Services, runtime.Child("services"))...)
	return append(errs, appended(s.VirtualCluster.Networking.Services, old.VirtualCluster.Networking.Services, virtual.Child("services"))...)
}

func appended[S ~string](now, was []S, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(now) < len(was) {
		errs = append(errs, field.Forbidden(path, "a range cannot be removed"))
	}
	for i := range min(len(now), len(was)) {
		if now[i] != was[i] {
			errs = append(errs, field.Invalid(path.Index(i), now[i], fmt.Sprintf("cannot change from %s; add to the end instead", was[i])))
		}
	}
	return errs
}

// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// network is a named range of addresses.
type network struct {
	name string
	cidr *string
}

// networks checks that every given range is a canonical CIDR and that no two of them overlap (API-VALSHOOT-10).
func networks(all []network, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	parsed := map[string]netip.Prefix{}
	var order []string
	for _, n := range all {
		if n.cidr == nil {
			continue
		}
		here := path.Child(n.name)
		prefix, err := netip.ParsePrefix(*n.cidr)
		if err != nil {
			errs = append(errs, field.Invalid(here, *n.cidr, "must be a CIDR such as 10.0.0.0/16"))
			continue
		}
		if prefix != prefix.Masked() {
			errs = append(errs, field.Invalid(here, *n.cidr, "must be written as "+prefix.Masked().String()))
		}
		for _, other := range order {
			if parsed[other].Overlaps(prefix) {
				errs = append(errs, field.Invalid(here, *n.cidr, fmt.Sprintf("must not overlap with %s %s", other, parsed[other])))
			}
		}
		parsed[n.name] = prefix
		order = append(order, n.name)
	}
	return errs
}

// inFamilies checks that every range is of one of the families; without families, of IPv4 (API-VALSHOOT-10).
func inFamilies(all []network, families []gardencorev1beta1.IPFamily, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	families = orIPv4(families)
	for _, n := range all {
		prefix, ok := rangeOf(n.cidr)
		if !ok {
			continue // An invalid range has been reported already.
		}
		family := gardencorev1beta1.IPFamilyIPv4
		if prefix.Addr().Is6() {
			family = gardencorev1beta1.IPFamilyIPv6
		}
		if !slices.Contains(families, family) {
			errs = append(errs, field.Invalid(path.Child(n.name), *n.cidr, fmt.Sprintf("must be of an IP family in %v", families)))
		}
	}
	return errs
}

// notReserved checks that ranges do not overlap with those that the tunnels between seeds and shoots use (API-VALSHOOT-11).
func notReserved(all []network, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, n := range all {
		prefix, _ := rangeOf(n.cidr)
		for _, reserved := range reservedRanges() {
			if prefix.Overlaps(reserved) {
				errs = append(errs, field.Invalid(path.Child(n.name), *n.cidr, "must not overlap with the reserved range "+reserved.String()))
			}
		}
	}
	return errs
}

// reservedRanges are the range of the tunnel and the ranges to which it maps the ranges of shoots.
func reservedRanges() []netip.Prefix {
	const first, last = 240, 244
	tunnel := netip.AddrFrom16([16]byte{0: 0xfd, 1: 0x8f, 2: 0x6d, 3: 0x53, 4: 0xb9, 5: 0x7a, 7: 0x01})
	all := []netip.Prefix{netip.PrefixFrom(tunnel, 96)}
	for i := byte(first); i <= last; i++ {
		all = append(all, netip.PrefixFrom(netip.AddrFrom4([4]byte{0: i}), 8))
	}
	return all
}

// rangeOf parses a range of addresses. If the text is none, it returns the zero range, which contains no address.
func rangeOf(cidr *string) (netip.Prefix, bool) {
	if cidr == nil {
		return netip.Prefix{}, false
	}
	prefix, err := netip.ParsePrefix(*cidr)
	return prefix, err == nil
}

// families checks a list of IP families: known ones, each once.
func families(all []gardencorev1beta1.IPFamily, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, f := range all {
		errs = append(errs, oneOf(f, path.Index(i), gardencorev1beta1.IPFamilyIPv4, gardencorev1beta1.IPFamilyIPv6)...)
		names = append(names, string(f))
	}
	return append(errs, duplicates(names, path.Index)...)
}

// orIPv4 returns the given families, or IPv4 if there are none.
func orIPv4(all []gardencorev1beta1.IPFamily) []gardencorev1beta1.IPFamily {
	if len(all) == 0 {
		return []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4}
	}
	return all
}

// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"
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

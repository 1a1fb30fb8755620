// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/fields"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// domain refuses a domain that another shoot has, or that lies above or below one (API-SVAL-18). Only a new domain is
// looked at, because that takes a look at all shoots.
func domain(ctx context.Context, v world.View, q request) error {
	wanted := domainOf(q.shoot)
	if wanted == "" || wanted == domainOf(q.old) {
		return nil
	}
	if !q.IsDryRun() && !v.Claim("domains of shoots", wanted, q.shoot.Namespace+"/"+q.shoot.Name, nested) {
		return fmt.Errorf("spec.dns.domain: another request has just asked for %q, or for a domain above or below it; take another "+
			"one, or try again in two minutes", wanted)
	}
	shoots, err := v.Shoots(ctx, "", fields.Everything())
	if err != nil {
		return fmt.Errorf("list shoots: %w", err)
	}
	for i := range shoots {
		other := &shoots[i]
		if other.Namespace == q.shoot.Namespace && other.Name == q.shoot.Name {
			continue
		}
		switch taken := domainOf(other); {
		case taken == "":
		case taken == wanted:
			return fmt.Errorf("spec.dns.domain: %q is taken by another shoot", wanted)
		case nested(taken, wanted):
			return fmt.Errorf("spec.dns.domain: %q lies above or below the domain of another shoot", wanted)
		}
	}
	return nil
}

// nested reports whether one of two domains lies below the other.
func nested(a, b string) bool {
	return strings.HasSuffix(a, "."+b) || strings.HasSuffix(b, "."+a)
}

func domainOf(s *gardencorev1beta1.Shoot) string {
	if s.Spec.DNS == nil || s.Spec.DNS.Domain == nil {
		return ""
	}
	return *s.Spec.DNS.Domain
}

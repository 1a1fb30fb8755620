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
		case strings.HasSuffix(taken, "."+wanted), strings.HasSuffix(wanted, "."+taken):
			return fmt.Errorf("spec.dns.domain: %q lies above or below the domain of another shoot", wanted)
		}
	}
	return nil
}

func domainOf(s *gardencorev1beta1.Shoot) string {
	if s.Spec.DNS == nil || s.Spec.DNS.Domain == nil {
		return ""
	}
	return *s.Spec.DNS.Domain
}

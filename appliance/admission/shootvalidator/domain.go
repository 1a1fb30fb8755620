// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// checkDomain rejects a domain that another shoot has, or that is above or below the domain of another shoot. Only a new domain
// is checked, because that requires a list of all shoots (API-SVAL-18).
func checkDomain(ctx context.Context, v world.View, q request) error {
	wanted := query.Domain(q.shoot.Spec.DNS)
	if wanted == "" || wanted == query.Domain(q.old.Spec.DNS) {
		return nil
	}
	if !q.IsDryRun() && !v.Claim("domains of shoots", wanted, q.shoot.Namespace+"/"+q.shoot.Name, query.Nested) {
		return fmt.Errorf("spec.dns.domain: another request has just requested %q, or a domain above or below it; use another "+
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
		switch taken := query.Domain(other.Spec.DNS); {
		case taken == "":
		case taken == wanted:
			return fmt.Errorf("spec.dns.domain: %q is used by another shoot", wanted)
		case query.Nested(taken, wanted):
			return fmt.Errorf("spec.dns.domain: %q is above or below the domain of another shoot", wanted)
		}
	}
	return nil
}

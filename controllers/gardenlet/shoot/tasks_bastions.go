// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// stepBastions is the id of the error that bastions are left.
const stepBastions = "bastions"

// bastions are the hosts through which the machines of a shoot are reached by SSH.
type bastions struct {
	ground
}

// fragment removes the hosts of a shoot whose machines are not to be reached by SSH any more (GLET-BASTION-5). The controller of
// bastions makes no new ones.
func (b bastions) fragment() fragment {
	hosts := ask[*gardenextensionsv1alpha1.Bastion]{ground: b.ground, id: "bastions", title: "the bastions"}
	return fragment{deploy: hosts.destroy(!b.facts.Workers() || query.SSHAllowed(&b.facts.Shoot.Spec), "infrastructure-wait")}
}

// refuseWithBastions returns an error while a shoot has bastions: it is neither deleted nor moved, because their hosts depend on its
// infrastructure. The garden deletes those of a shoot in deletion (GLET-BASTION-5). They are read from the garden itself, because a cache
// may not have yet the one that was just made.
func (o *operation) refuseWithBastions(ctx context.Context) error {
	list := &gardenoperationsv1alpha1.BastionList{}
	own := client.MatchingFields{gardenoperationsv1alpha1.FieldBastionSeedName: o.r.SeedName}
	if err := o.r.GardenReader.List(ctx, list, client.InNamespace(o.facts.Shoot.Namespace), own); err != nil {
		return fmt.Errorf("list bastions of shoot %q: %w", o.facts.Shoot.Name, err)
	}
	var names []string
	for i := range list.Items {
		if list.Items[i].Spec.ShootRef.Name == o.facts.Shoot.Name {
			names = append(names, list.Items[i].Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return lastoperation.AtStep(stepBastions, fmt.Errorf("the shoot still has bastions, which have to be deleted first: %s", strings.Join(names, ", ")))
}

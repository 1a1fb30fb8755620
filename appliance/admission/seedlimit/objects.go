// SPDX-License-Identifier: Apache-2.0

package seedlimit

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

const (
	// mostLeases is how many leases the extensions of a seed have: an extension has one for each of its controller managers.
	mostLeases = 200
	// leaseSize is how large a lease of a seed is. One with its managed fields has less than a KiB.
	leaseSize = 16 << 10
	// mostBastions is how many Bastions on the seed a project has when a client of the seed creates another one. People create them, up to
	// the quota of the project; no gardenlet does.
	mostBastions = 20
)

// leases limits the leases in the namespace of a seed, where extensions choose their names, and the size of all leases of a seed.
func (r *rule) leases(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, client seedclient.Client) error {
	lease, old, err := world.Objects[coordinationv1.Lease](a, o)
	if err != nil {
		return err
	}
	if size := lease.Size(); size > leaseSize && (old == nil || size > old.Size()) {
		return fmt.Errorf("the lease has %d bytes, and at most %d are allowed", size, leaseSize)
	}
	if a.GetNamespace() != client.Namespace() {
		return nil // The gardenlet has one of its own name.
	}

	return r.room(ctx, a, fmt.Sprintf("in namespace %q", a.GetNamespace()), mostLeases, func(ctx context.Context) ([]string, error) {
		names, err := r.world.Fresh().Names(ctx, world.Place{
			Group: coordinationv1.GroupName, Resource: "leases", Namespace: a.GetNamespace(),
		})
		for i := range names {
			names[i] = names[i][len(a.GetNamespace())+1:]
		}

		return names, err
	})
}

// bastions keeps a seed from taking all places that the quota of a project has for Bastions.
func (r *rule) bastions(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces, client seedclient.Client) error {
	sort := fmt.Sprintf("of seed %q in namespace %q", client.Seed, a.GetNamespace())

	return r.room(ctx, a, sort, mostBastions, func(ctx context.Context) ([]string, error) {
		list, err := world.List[gardenoperationsv1alpha1.BastionList](ctx, r.world.Fresh(), world.Place{
			Group: gardenoperationsv1alpha1.GroupName, Resource: "bastions", Namespace: a.GetNamespace(),
		}, fields.OneTermEqualSelector(gardenoperationsv1alpha1.FieldBastionSeedName, client.Seed))
		if err != nil {
			return nil, err
		}
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}

		return names, nil
	})
}

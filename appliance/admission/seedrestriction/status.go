// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// The status of an object says which seed acts on it, and on what there. A client that could write any seed into it could make the
// gardenlet of another seed delete things that do not belong to the object.

// updateShootStatus allows the seed that is responsible for a shoot to write its status, with the identity of this shoot and no other.
func updateShootStatus(ctx context.Context, r *request) error {
	shoot, old, err := world.Objects[gardencorev1beta1.Shoot](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if seed := query.ResponsibleSeed(old.Spec.SeedName, old.Status.SeedName); seed != r.client.Seed {
		return fmt.Errorf("status: seed %q is responsible for shoot %q, not seed %q", seed, shoot.Name, r.client.Seed)
	}
	if err := r.handsOver("status.seedName", shoot.Status.SeedName, old.Status.SeedName, shoot.Spec.SeedName); err != nil {
		return err
	}
	if uid := shoot.Status.UID; uid != old.Status.UID && uid != shoot.UID {
		return fmt.Errorf("status.uid: must be %q, the UID of the shoot", shoot.UID)
	}

	return r.OwnTechnicalID(ctx, shoot, old)
}

// handsOver rejects a new seed in a status, except for the client's own, for the seed in the spec, and for none.
func (r *request) handsOver(path string, now, before, spec *string) error {
	if ptr.Equal(now, before) || now == nil || r.has(now) || ptr.Equal(now, spec) {
		return nil
	}

	return r.mine(path, now)
}

// updateEntryStatus is updateShootStatus for backup entries.
func updateEntryStatus(_ context.Context, r *request) error {
	entry, old, err := world.Objects[gardencorev1beta1.BackupEntry](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if seed := query.ResponsibleSeed(old.Spec.SeedName, old.Status.SeedName); seed != r.client.Seed {
		return fmt.Errorf("status: seed %q is responsible for backup entry %q, not seed %q", seed, entry.Name, r.client.Seed)
	}

	return r.handsOver("status.seedName", entry.Status.SeedName, old.Status.SeedName, entry.Spec.SeedName)
}

// movesEntry rejects another seed in the spec of a backup entry, except for the client's own and for the one to which the client's seed
// hands the shoot of the entry over.
func (r *request) movesEntry(ctx context.Context, entry, old *gardencorev1beta1.BackupEntry) error {
	if ptr.Equal(entry.Spec.SeedName, old.Spec.SeedName) || r.has(entry.Spec.SeedName) {
		return nil
	}
	for _, owner := range old.OwnerReferences {
		if owner.Kind != "Shoot" {
			continue
		}
		shoot, err := r.Shoot(ctx, entry.Namespace, owner.Name)
		if err != nil {
			return r.elsewhere(err, "metadata.ownerReferences", "shoot", owner.Name)
		}
		if r.has(shoot.Status.SeedName) && ptr.Equal(shoot.Spec.SeedName, entry.Spec.SeedName) {
			return nil
		}
	}

	return r.mine("spec.seedName", entry.Spec.SeedName)
}

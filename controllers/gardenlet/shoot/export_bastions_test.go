// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// recordsOf are the DNS records of a shoot with an internal name.
func recordsOf(r *Reconciler, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot) names {
	g := ground{
		facts: facts.Shoot{Shoot: shoot, Seed: seed, Namespace: shoot.Status.TechnicalID, Hosts: facts.Hosts{Internal: "api.a.dev.internal.example"}},
		seed:  r.SeedClient, clock: r.Clock,
	}
	return names{ground: g, credentials: credentials{ground: g, garden: r.GardenClient, reader: r.GardenReader, validity: r.IdentityTokenValidity}}
}

// ReplaceInternalRecord deletes the internal record if it has another type.
func ReplaceInternalRecord(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, want gardenextensionsv1alpha1.DNSRecordType) error {
	return recordsOf(r, nil, shoot).replace(ctx, record{purpose: purposeInternal}, want)
}

// DeleteRecords deletes all records.
func DeleteRecords(ctx context.Context, r *Reconciler, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot) error {
	return recordsOf(r, seed, shoot).delete(ctx)
}

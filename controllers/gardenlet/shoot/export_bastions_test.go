// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
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
func ReplaceInternalRecord(ctx context.Context, r *Reconciler, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot, want gardenextensionsv1alpha1.DNSRecordType) error {
	names := recordsOf(r, seed, shoot)
	return names.replace(ctx, names.internalRecord(), want)
}

// RestoreInternalRecord deploys the internal record before a clean-up, where the API server has that address.
func RestoreInternalRecord(ctx context.Context, r *Reconciler, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot, address string) error {
	n := recordsOf(r, seed, shoot)
	n.address = flow.NewValue[component.Address]("address")
	given := flow.Task{ID: "given", Title: "Giving the address", Sets: []flow.Slot{n.address}, Do: func(ctx context.Context) error {
		n.address.Set(ctx, component.Address{LoadBalancer: address})
		return nil
	}}
	o := &operation{r: r, facts: facts.Shoot{Shoot: shoot}}
	n.todo = o.todo()
	task := flow.Task{ID: "dns-internal", Title: "Deploying the record", Reads: []flow.Slot{n.address}, Do: n.internalAgain}
	graph, err := flow.Compile("one record", given, task)
	if err != nil {
		return err
	}
	return graph.Run(ctx, flow.Options{Clock: r.Clock})
}

// DeleteRecords deletes all records.
func DeleteRecords(ctx context.Context, r *Reconciler, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot) error {
	return recordsOf(r, seed, shoot).delete(ctx)
}

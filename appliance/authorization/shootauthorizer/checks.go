// SPDX-License-Identifier: Apache-2.0

package shootauthorizer

import (
	"context"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
)

// atHome restricts access to the namespace of the shoot.
func atHome(_ context.Context, r *request) (allowed, only bool) {
	return false, r.Namespace != r.Client.Namespace
}

// named allows a gardenlet to read and write the objects that belong to its shoot by their name. Of the others, it reads those in the
// namespace of the shoot to which the shoot refers, one by one. A request to create an object has no name yet: admission judges it.
func named(kind graph.Kind) func(ctx context.Context, r *request) (allowed, only bool) {
	const all = rules.Get | rules.Create | rules.Write | rules.Delete

	return func(_ context.Context, r *request) (allowed, only bool) {
		if r.Namespace != r.Client.Namespace || r.Part != "" {
			return false, true
		}
		at := graph.Vertex{Kind: kind, Namespace: r.Namespace, Name: r.Name}
		shoot, ofShoot := graph.ShootOf(at)
		_, ofBucket := graph.BucketOf(at)
		switch {
		case r.Name == "":
			return r.Verb == rules.Create, true
		case ofShoot:
			return shoot == r.Client.Name && all.Has(r.Verb), true
		default:
			return false, ofBucket
		}
	}
}

// state allows a gardenlet to read and write the ShootState of its shoot, which has all its keys. Its deletion is left to the garden.
func state(_ context.Context, r *request) (allowed, only bool) {
	const all = rules.Get | rules.Create | rules.Write
	own := r.Name == r.Client.Name || r.Name == "" && r.Verb == rules.Create

	return r.Namespace == r.Client.Namespace && r.Part == "" && own && all.Has(r.Verb), true
}

// lease allows a gardenlet to renew the lease of its shoot, and no other lease.
func lease(_ context.Context, r *request) (allowed, only bool) {
	const all = rules.Read | rules.Create | rules.Write
	own := r.Name == r.Client.Lease() || r.Name == "" && r.Verb == rules.Create

	return r.Namespace == r.Client.Namespace && r.Part == "" && own && all.Has(r.Verb), true
}

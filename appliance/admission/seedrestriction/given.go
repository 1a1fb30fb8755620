// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// mayName rejects references in the spec of the client's own Seed, or of its buckets. A gardenlet may read the objects that its Seed refers to.
// So a client of the seed may refer only to objects in the namespace of the seed and to those that an operator has given to
// it. It may not refer to objects that it can read for another reason, such as the credentials of a shoot, because it may
// lose that access again.
func (r *request) mayName(ctx context.Context, all []graph.Vertex) error {
	for _, v := range all {
		if v.Kind == graph.InternalSecret {
			return fmt.Errorf("it may not refer to %s: InternalSecrets are not given to seeds; use a Secret", v)
		}
		if v.Namespace == r.client.Namespace() {
			continue
		}
		given, err := r.given(ctx, v)
		if err != nil {
			return err
		}
		if !given {
			return r.notGiven(v)
		}
	}

	return nil
}

// notGiven returns an error that says what an operator has to do.
func (r *request) notGiven(v graph.Vertex) error {
	target, _ := reach.Holder(v)
	if v.Namespace != gardencorev1beta1.NamespaceGarden || ofShoot(v) {
		return fmt.Errorf("it may not refer to %s, which does not belong to seed %q", v, r.client.Seed)
	}

	return fmt.Errorf("it may not refer to %s, which an operator has not given to seed %q; if it is for this seed, run: "+
		"kubectl -n %s label %s %s %s%s=true", v, r.client.Seed, v.Namespace, target.Resource, v.Name,
		gardencorev1beta1.LabelPrefixSeedName, r.client.Seed)
}

func ofShoot(v graph.Vertex) bool {
	_, ok := graph.ShootOf(v)

	return ok
}

// given reports whether an operator has given an object in the namespace garden to the seed: by a label that clients of
// seeds cannot set, by a role of which each seed gets a copy, or in the ManagedSeed of the seed. Objects that belong to a
// shoot by their name, such as the keys of a managed seed, cannot be given.
func (r *request) given(ctx context.Context, v graph.Vertex) (bool, error) {
	if v.Namespace != gardencorev1beta1.NamespaceGarden || ofShoot(v) {
		return false, nil
	}
	managed, err := r.managedSeed(ctx, gardencorev1beta1.NamespaceGarden, r.client.Seed)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("read managed seed %q: %w", r.client.Seed, err)
	}
	if err == nil && slices.Contains(templateNames(managed), v) {
		return true, nil
	}
	target, ok := reach.Holder(v)
	if !ok {
		return false, nil
	}
	object, err := r.Metadata(ctx, target)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", v, err)
	}

	return object.Labels[gardencorev1beta1.LabelPrefixSeedName+r.client.Seed] == "true" ||
		v.Kind == graph.Secret && query.ForAllSeeds(object.Labels), nil
}

// templateNames lists the objects that the Seed in a ManagedSeed refers to.
func templateNames(m *gardenseedmanagementv1alpha1.ManagedSeed) []graph.Vertex {
	template := references.SeedTemplate(m)
	if template == nil {
		return nil
	}

	return references.NamedBySeed(&template.Spec)
}

// noNewNames rejects new references to objects with data in an object that gardenlets and extensions do not compose: its author
// decides what it names. That the client can read such an object now is no reason to allow it: it reads the credentials of a
// shoot only while the shoot is on its seed, and would keep that access by a reference from an object that stays.
func noNewNames(now, before []graph.Edge) error {
	return noNewVertices(holders(now), holders(before))
}

func noNewVertices(now, before []graph.Vertex) error {
	for _, v := range without(now, before) {
		return fmt.Errorf("it may not refer to %s: clients of seeds cannot add references here: %w", v, reach.ErrOthers)
	}

	return nil
}

// added lists the objects with data that are referred to now and were not before.
func added(now, before []graph.Edge) []graph.Vertex { return without(holders(now), holders(before)) }

// holders lists the objects in references that have data, or that refer to such objects.
func holders(all []graph.Edge) []graph.Vertex {
	var found []graph.Vertex
	for _, edge := range all {
		if _, ok := reach.Holder(edge.From); ok {
			found = append(found, edge.From)
		}
	}

	return found
}

// without lists the objects that are not among others.
func without(all, others []graph.Vertex) []graph.Vertex {
	return slices.DeleteFunc(all, func(v graph.Vertex) bool { return slices.Contains(others, v) })
}

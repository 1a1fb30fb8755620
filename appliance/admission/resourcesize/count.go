// SPDX-License-Identifier: Apache-2.0

package resourcesize

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// tooMany counts the objects of a cluster-scoped resource (GAC-SIZE-8). Objects that other requests were just allowed to create count as
// well: several requests at once would otherwise each find the last free place.
func (r *rule) tooMany(
	ctx context.Context, a admission.Attributes, limit *gardenconfigv1alpha1.ResourceLimit,
) (complaint, err error) {
	if limit.Count == nil || a.GetOperation() != admission.Create || !clusterScoped(a) {
		return nil, nil
	}
	created, err := meta.Accessor(a.GetObject())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", world.ErrUnreadable, err)
	}
	of, name := a.GetResource(), created.GetName()
	var others []string
	var first bool
	if !a.IsDryRun() {
		others, first = r.world.Announce(ctx, counted(a), name)
	}
	there, err := r.world.Fresh().Names(ctx, world.Place{Group: of.Group, Version: of.Version, Resource: of.Resource})
	switch {
	case apierrors.IsMethodNotSupported(err): // What cannot be listed is not kept, such as reviews of permissions.
		err = nil
	case err != nil:
		err = fmt.Errorf("count %s: %w", of.Resource, err)
	default:
		if complaint = above(there, others, of.Resource, *limit.Count); complaint == nil {
			return nil, nil
		}
	}
	if first {
		r.world.Withdraw(ctx, counted(a), name)
	}
	return complaint, err
}

// above complains when there is no place for another object beside those that are there and those that are about to be.
func above(there, others []string, resource string, most int64) error {
	awaited := slices.DeleteFunc(others, func(name string) bool { return slices.Contains(there, "/"+name) })
	switch n := int64(len(there)); {
	case n >= most:
		return fmt.Errorf("there are already %d %s, and at most %d are allowed", n, resource, most)
	case n+int64(len(awaited)) >= most:
		return fmt.Errorf("there are already %d %s, %d more have just been requested, and at most %d are allowed; try again in two minutes",
			n, resource, len(awaited), most)
	default:
		return nil
	}
}

// deleted forgets that an object was requested: it is there, or else it could not be deleted. A Secret in the cache counts until it is gone
// from there.
func (r *rule) deleted(a admission.Attributes) {
	// A request to delete all objects has no name.
	gone, err := meta.Accessor(a.GetOldObject())
	switch {
	case err != nil || a.IsDryRun():
	case clusterScoped(a):
		r.world.Release(counted(a), gone.GetName(), gone.GetName())
	case a.GetResource().GroupResource() == corev1.Resource("secrets"):
		r.world.Release(secretsOf(a.GetNamespace()), gone.GetName(), gone.GetName())
	}
}

// clusterScoped reports whether a request is for an object without a namespace. Requests for a Namespace have its name as their
// namespace.
func clusterScoped(a admission.Attributes) bool {
	return a.GetNamespace() == "" || a.GetResource().GroupResource() == corev1.Resource("namespaces")
}

// counted is the sort of the claims for objects of a resource.
func counted(a admission.Attributes) string {
	return "count of " + a.GetResource().GroupResource().String()
}

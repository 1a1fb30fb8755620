// SPDX-License-Identifier: Apache-2.0

package shootrestriction

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// lends rejects new references of a self-hosted shoot to objects that their author may not read. The gardenlet of the shoot may read
// them, and it is in the hands of people who may write the shoot: without this check, they could read any Secret in its namespace.
func (r *rule) lends(ctx context.Context, a admission.Attributes) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || !query.SelfHosted(&shoot.Spec) {
		return nil
	}
	var before []graph.Edge
	if old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot); ok {
		before = references.OfSelfHosted(old)
	}
	err := r.world.Decide(a, func(v world.View) error {
		for _, edge := range references.OfSelfHosted(shoot) {
			if slices.Contains(before, edge) {
				continue
			}
			if err := mayLend(ctx, v, a, edge.From); err != nil {
				return err
			}
		}

		return nil
	})
	if err != nil {
		return r.world.Rejected(a, reason, err)
	}

	return nil
}

// mayLend rejects an object, or one that it refers to, that the client may not read.
func mayLend(ctx context.Context, v world.View, a admission.Attributes, object graph.Vertex) error {
	credentials, err := behind(ctx, v, object)
	if err != nil {
		return err
	}
	for _, o := range append([]graph.Vertex{object}, credentials...) {
		may, err := reach.Readable(ctx, v.World, a.GetUserInfo(), o)
		if err != nil {
			return err
		}
		if !may {
			return fmt.Errorf("it may not refer to %s: the gardenlet of a self-hosted shoot reads it, and user %q may not", o, a.GetUserInfo().GetName())
		}
	}

	return nil
}

// behind lists the credentials of a binding. Those that do not exist are of nobody yet: their author will need permission to read them.
func behind(ctx context.Context, v world.View, binding graph.Vertex) (all []graph.Vertex, err error) {
	var edges []graph.Edge
	switch binding.Kind {
	case graph.SecretBinding:
		var b *gardencorev1beta1.SecretBinding
		if b, err = v.SecretBinding(ctx, binding.Namespace, binding.Name); err == nil {
			edges = references.OfSelfHosted(b)
		}
	case graph.CredentialsBinding:
		var b *gardensecurityv1alpha1.CredentialsBinding
		b, err = world.Get[gardensecurityv1alpha1.CredentialsBinding](ctx, v, world.Place{
			Group: gardensecurityv1alpha1.GroupName, Resource: "credentialsbindings", Namespace: binding.Namespace, Name: binding.Name,
		})
		if err == nil {
			edges = references.OfSelfHosted(b)
		}
	default:
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read %s: %w", binding, err)
	}
	for _, e := range edges {
		all = append(all, e.From)
	}

	return all, nil
}

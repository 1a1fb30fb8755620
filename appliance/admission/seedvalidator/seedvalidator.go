// SPDX-License-Identifier: Apache-2.0

// Package seedvalidator keeps a Seed from being deleted while shoots are on it (API-SEEDVAL-1).
package seedvalidator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate refuses the deletion of seeds that shoots use.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetKind().GroupKind() != gardencorev1beta1.Kind("Seed") || a.GetSubresource() != "" {
		return nil
	}
	shoots, err := r.world.Shoots(ctx, "", fields.Everything())
	if err != nil {
		return admission.NewForbidden(a, fmt.Errorf("list shoots: %w", err))
	}
	users := using(shoots, a.GetName())
	if len(users) == 0 {
		return nil
	}
	return admission.NewForbidden(a, fmt.Errorf("the seed still runs shoots, delete or move them first: %s", strings.Join(users, ", ")))
}

// using names the shoots that are on a seed; an empty name stands for any seed.
func using(shoots []gardencorev1beta1.Shoot, seed string) []string {
	var names []string
	for _, s := range shoots {
		for _, on := range []*string{s.Spec.SeedName, s.Status.SeedName} {
			if on != nil && (seed == "" || *on == seed) {
				names = append(names, s.Namespace+"/"+s.Name)
				break
			}
		}
	}
	slices.Sort(names)
	return names
}

// SPDX-License-Identifier: Apache-2.0

// Package resourcesize limits the size of objects in projects and the number of cluster-scoped objects, as configured
// (GAC-SIZE-1 to 9, GAC-REG-3).
package resourcesize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world  *world.World
	config gardenconfigv1alpha1.ResourceSizeConfiguration
}

// New returns the constructor of the plugin; without a configuration there are no limits.
func New(c *gardenconfigv1alpha1.ResourceSizeConfiguration) func(w *world.World) admission.Interface {
	return func(w *world.World) admission.Interface {
		r := &rule{world: w}
		if c != nil {
			r.config = *c
		}
		operations := []admission.Operation{admission.Create, admission.Update}
		if slices.ContainsFunc(r.config.Limits, func(l gardenconfigv1alpha1.ResourceLimit) bool { return l.Count != nil || l.TotalSize != nil }) {
			operations = append(operations, admission.Delete)
		}
		r.Handler = admission.NewHandler(operations...)
		return r
	}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects or logs objects above the limit that applies to them.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetOperation() == admission.Delete {
		r.deleted(a)
		return nil
	}
	limit := r.limit(a.GetResource())
	if limit == nil || a.GetSubresource() != "" || world.Tried(a) || r.unrestricted(a.GetUserInfo()) {
		return nil
	}
	if a.GetNamespace() != "" {
		of, err := r.world.Cached().OfProject(ctx, a.GetNamespace())
		if err != nil || !of {
			return world.Answer(a, err)
		}
	}
	tooLarge, err := tooLarge(a, o, limit)
	if err != nil {
		return world.Answer(a, err)
	}
	if tooLarge != nil {
		if err := r.answer(a, "SizeExceeded", tooLarge); err != nil {
			return err
		}
	}
	tooManaged, err := tooManaged(a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	if tooManaged != nil {
		if err := r.answer(a, "SizeExceeded", tooManaged); err != nil {
			return err
		}
	}
	tooMuch, err := r.tooMuch(ctx, a, o, limit)
	if err != nil {
		return world.Answer(a, err)
	}
	if tooMuch != nil {
		if err := r.answer(a, "SizeExceeded", tooMuch); err != nil {
			return err
		}
	}
	// It claims a place, so it comes last.
	tooMany, err := r.tooMany(ctx, a, limit)
	if err != nil {
		return world.Answer(a, err)
	}
	if tooMany != nil {
		return r.answer(a, "CountExceeded", tooMany)
	}
	return nil
}

// answer rejects a request, or logs and accepts it (GAC-SIZE-4).
func (r *rule) answer(a admission.Attributes, reason string, complaint error) error {
	if r.config.OperationMode == gardenconfigv1alpha1.ResourceSizeModeLog {
		r.world.Note(a, "Request above a limit", complaint.Error())
		return nil
	}
	return r.world.Rejected(a, reason, world.Answer(a, complaint))
}

// limit returns the first limit for a resource.
func (r *rule) limit(of schema.GroupVersionResource) *gardenconfigv1alpha1.ResourceLimit {
	for i := range r.config.Limits {
		l := &r.config.Limits[i]
		if names(l.APIGroups, of.Group) && names(l.APIVersions, of.Version) && names(l.Resources, of.Resource) {
			return l
		}
	}
	return nil
}

func names(all []string, one string) bool {
	return slices.Contains(all, one) || slices.Contains(all, everything)
}

// everything matches every name.
const everything = "*"

// tooLarge measures an object (GAC-SIZE-3). One that was already above the limit, such as one from before the limit was set, may be updated
// as long as it does not grow: otherwise nobody could make it smaller step by step, and a namespace with such an object that has
// a finalizer could never be deleted (GAC-SIZE-4).
func tooLarge(
	a admission.Attributes, o admission.ObjectInterfaces, limit *gardenconfigv1alpha1.ResourceLimit,
) (complaint, err error) {
	if limit.Size == nil || a.GetObject() == nil {
		return nil, nil
	}
	most := limit.Size.Value()
	now, err := size(a, o, a.GetObject(), most)
	if err != nil {
		return nil, errors.Join(world.ErrUnreadable, err)
	}
	if now <= most {
		return nil, nil
	}
	if old := a.GetOldObject(); old != nil {
		before, err := size(a, o, old, most)
		if err != nil {
			return nil, errors.Join(world.ErrUnreadable, err)
		}
		if now <= before {
			return nil, nil
		}
	}
	_, entries, err := encode(a, o, a.GetObject())
	if err != nil {
		return nil, errors.Join(world.ErrUnreadable, err)
	}
	if entries > 0 {
		return fmt.Errorf("the object has %d bytes in JSON with its keys, and at most %d are allowed; each key after the first %d counts as %d bytes more",
			now, most, fewEntries, perEntry), nil
	}
	return fmt.Errorf("the object has %d bytes in JSON, and at most %d are allowed", now, most), nil
}

// SPDX-License-Identifier: Apache-2.0

package seedcare

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reports"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	reasonExtensionMissing  = kind.Extension + "Missing"
	reasonExtensionNotReady = kind.Extension + "NotReady"
)

// checkExtensions looks at the extensions that act for the seed as a whole: what the spec lists exists, each has done what it was last
// asked for, and none reports anything bad or is silent. The condition is the zero value if all is well.
func (r *Reconciler) checkExtensions(ctx context.Context, object *gardencorev1beta1.Seed) (gardencorev1beta1.Condition, error) {
	found, err := seed.Extensions(ctx, extension.Engine{Client: r.SeedClient, Clock: r.Clock})
	if err != nil {
		return gardencorev1beta1.Condition{}, err
	}
	slices.SortFunc(found, func(a, b gardenextensionsv1alpha1.Object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	var all []reports.Report
	for _, obj := range found {
		if ready := extension.Ready(obj); ready != nil {
			late, err := r.late(ctx, object, obj)
			if err != nil {
				return gardencorev1beta1.Condition{}, err
			}
			if late {
				c := healthy(gardencorev1beta1.ConditionFalse, reasonExtensionNotReady, fmt.Sprintf("%s %q is not ready: %v", kind.Extension, obj.GetName(), ready))
				c.Codes = operation.Codes(ready)
				return c, nil
			}
		}
		all = append(all, reports.Of(kind.Extension, obj)...)
	}
	if name := missing(object, found); name != "" {
		return healthy(gardencorev1beta1.ConditionFalse, reasonExtensionMissing, fmt.Sprintf("%s %q does not exist in the seed", kind.Extension, name)), nil
	}
	if err := r.heartbeats.Age(ctx, &r.SeedBase, r.StaleExtensionHealthChecks, all); err != nil {
		return gardencorev1beta1.Condition{}, err
	}
	reported, is := reports.Judge(gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy}, all)
	if !is {
		return gardencorev1beta1.Condition{}, nil
	}
	return reported, nil
}

// late reports whether an extension has said that it cannot do what it was asked for, or has had the time to do so.
func (r *Reconciler) late(ctx context.Context, object *gardencorev1beta1.Seed, obj gardenextensionsv1alpha1.Object) (bool, error) {
	if obj.GetExtensionStatus().LastError != nil {
		return true, nil
	}
	asked, err := time.Parse(time.RFC3339Nano, obj.GetAnnotations()[gardencorev1beta1.AnnotationTimestamp])
	if err != nil {
		asked = obj.GetCreationTimestamp().Time // Nobody has asked, or somebody has written something else.
	}
	waited := r.Clock.Since(asked)
	if waited <= extensions.KindOf(obj).Patience.Timeout {
		return false, nil
	}
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	if err := r.GardenReader.List(ctx, registrations); err != nil {
		return false, fmt.Errorf("list controller registrations: %w", err)
	}
	return waited > seed.AddOns{Seed: object, Registrations: registrations.Items}.Patience(obj.GetName()).Timeout, nil
}

// missing is the first extension in the spec without an object; empty if there is none.
func missing(object *gardencorev1beta1.Seed, found []gardenextensionsv1alpha1.Object) string {
	for _, e := range object.Spec.Extensions {
		if !slices.ContainsFunc(found, func(obj gardenextensionsv1alpha1.Object) bool { return obj.GetName() == e.Type }) {
			return e.Type
		}
	}
	return ""
}

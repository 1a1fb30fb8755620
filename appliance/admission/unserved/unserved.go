// SPDX-License-Identifier: Apache-2.0

// Package unserved warns whoever sets what the API accepts and nobody acts upon yet, and refuses what would break a shoot
// that has a seed. The table of package apis/unserved says what that is.
package unserved

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/unserved"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct{ *admission.Handler }

// New makes the rule. It looks at nothing but the object.
func New(*world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update)}
}

var (
	_ admission.MutationInterface   = &rule{}
	_ admission.ValidationInterface = &rule{}
)

// Admit warns. It changes nothing, but has to be asked before the rules that complete objects: what they add is nobody's
// wish. Gardenlets get no warnings, there is nobody who would read them.
func (*rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if leavesAlone(a) || ofGardenlet(a.GetUserInfo()) {
		return nil
	}
	for _, f := range unserved.Set(a.GetObject(), a.GetOldObject()) {
		if f.Severity != unserved.Note {
			warning.AddWarning(ctx, "", f.String())
		}
	}
	return nil
}

// Validate refuses what would break a shoot. One that has no seed is not broken: nothing is done with it but to report
// what is wrong, and its owner can take the setting away.
func (*rule) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok || leavesAlone(a) || old.Spec.SeedName == nil && old.Status.SeedName == nil {
		return nil
	}
	var refusals []error
	for _, f := range unserved.Set(a.GetObject(), old) {
		if f.Severity == unserved.Refuse {
			refusals = append(refusals, fmt.Errorf("%s; leave the field as it was", f))
		}
	}
	return world.Answer(a, errors.Join(refusals...))
}

// leavesAlone reports whether a request sets nothing that somebody should act upon: of the subresources only a binding does.
func leavesAlone(a admission.Attributes) bool {
	if sub := a.GetSubresource(); sub != "" && sub != "binding" {
		return true
	}
	obj, ok := a.GetObject().(interface{ GetDeletionTimestamp() *metav1.Time })
	return !ok || obj.GetDeletionTimestamp() != nil
}

func ofGardenlet(who user.Info) bool {
	return slices.Contains(who.GetGroups(), gardencorev1beta1.GroupSeeds)
}

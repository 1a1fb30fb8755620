// SPDX-License-Identifier: Apache-2.0

// Package unserved warns users who set what the API accepts and no controller acts upon yet, and rejects settings that would
// break a shoot that has a seed. They are listed in the table of package apis/unserved.
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

type rule struct {
	*admission.Handler

	rows *unserved.Rows
}

// New returns the plugin. It uses only the object.
func New(*world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), rows: unserved.Compile()}
}

var (
	_ admission.MutationInterface   = &rule{}
	_ admission.ValidationInterface = &rule{}
)

// Admit warns. It changes nothing, but has to run before the plugins that complete objects, because users did not set what
// those add. Gardenlets get no warnings, because no user would read them.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if leavesAlone(a) || ofGardenlet(a.GetUserInfo()) {
		return nil
	}
	for _, f := range r.rows.Set(a.GetObject(), a.GetOldObject()) {
		if f.Severity != unserved.Note {
			warning.AddWarning(ctx, "", f.String())
		}
	}
	return nil
}

// Validate rejects settings that would break a shoot. They do not break a shoot without a seed: it is not reconciled and
// reports the problem, and its owner can remove the setting.
func (r *rule) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok || leavesAlone(a) || old.Spec.SeedName == nil && old.Status.SeedName == nil {
		return nil
	}
	var refusals []error
	for _, f := range r.rows.Set(a.GetObject(), old) {
		if f.Severity == unserved.Refuse {
			refusals = append(refusals, fmt.Errorf("%s; keep the old value of the field", f))
		}
	}
	return world.Answer(a, errors.Join(refusals...))
}

// leavesAlone reports whether a request sets nothing that a controller acts upon, as requests for subresources other than
// binding.
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

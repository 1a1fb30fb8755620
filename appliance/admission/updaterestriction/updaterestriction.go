// SPDX-License-Identifier: Apache-2.0

// Package updaterestriction rejects changes of Secrets and ConfigMaps that gardenlets have labelled for themselves by other
// users (GAC-UPD-1).
package updaterestriction

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	collector = "system:serviceaccount:kube-system:generic-garbage-collector"
	internal  = "system:serviceaccount:kube-system:gardener-internal"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects requests for labelled objects, also those that remove the label.
func (r *rule) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	restricted := []schema.GroupResource{corev1.Resource("secrets"), corev1.Resource("configmaps")}
	if !slices.Contains(restricted, a.GetResource().GroupResource()) || a.GetSubresource() != "" ||
		!labelled(a.GetObject()) && !labelled(a.GetOldObject()) || may(a.GetUserInfo(), a.GetOperation()) {
		return nil
	}
	return r.world.Rejected(a, "UpdateRestricted", world.Answer(a, fmt.Errorf(
		"it has the label %s=true, so only gardenlets may write it; change what it is made from instead", gardencorev1beta1.LabelUpdateRestriction)))
}

func labelled(object runtime.Object) bool {
	if object == nil {
		return false
	}
	metadata, err := meta.Accessor(object)
	return err == nil && metadata.GetLabels()[gardencorev1beta1.LabelUpdateRestriction] == "true"
}

// may reports whether a user may change labelled objects. The controllers of this server use its own identity.
func may(who user.Info, operation admission.Operation) bool {
	if who == nil {
		return false
	}
	groups := who.GetGroups()
	if slices.Contains(groups, gardencorev1beta1.GroupSeeds) || slices.Contains(groups, gardencorev1beta1.GroupShoots) {
		return true
	}
	switch who.GetName() {
	case user.APIServerUser:
		return true
	case collector:
		return operation == admission.Delete
	case internal:
		return operation == admission.Update
	default:
		return false
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package objectcreation has every object begin its life outside of deletion. The library clears what only the server may say of a new object when it
// is posted, but not when it is created by server-side apply or an update. Rules accept objects in deletion as they are, so that finalizers can
// always be removed; without this plugin, a client could pass by all of them with an object that claims to be in deletion (API-ADM-6).
package objectcreation

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// Name is the name of the plugin. It cannot be disabled.
const Name = "ObjectCreation"

type rule struct{ *admission.Handler }

// New returns the plugin, which has to run before all others that change objects.
func New(*world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create)}
}

var _ admission.MutationInterface = &rule{}

// Admit clears the time and the grace period of the deletion of a new object.
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		return nil //nolint:nilerr // It has no metadata, such as a review.
	}
	object.SetDeletionTimestamp(nil)
	object.SetDeletionGracePeriodSeconds(nil)

	return nil
}

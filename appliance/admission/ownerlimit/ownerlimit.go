// SPDX-License-Identifier: Apache-2.0

// Package ownerlimit limits the number of owners that an object has. The garbage collector looks each of them up, with requests that nothing
// limits: who could write objects with thousands of owners would keep it, and the server, busy for as long as he likes.
package ownerlimit

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// most is the number of owners that an object has at most. Nearly all have one.
const most = 20

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects an object with too many owners. Those of an earlier version can change otherwise, and lose owners.
func (r *rule) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" || a.GetUserInfo().GetName() == user.APIServerUser {
		return nil
	}
	n := owners(a.GetObject())
	if n <= most || a.GetOldObject() != nil && n <= owners(a.GetOldObject()) {
		return nil
	}

	return r.world.Rejected(a, "TooManyOwners", world.Answer(a, fmt.Errorf(
		"metadata.ownerReferences: the object has %d owners, and at most %d are allowed", n, most)))
}

// owners counts the owners of an object; one without metadata has none.
func owners(object any) int {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return 0
	}

	return len(metadata.GetOwnerReferences())
}

// SPDX-License-Identifier: Apache-2.0

// Package requestlimit limits how many certificate requests a user has. Gardenlets create them, and everybody with a join token, so one of them
// could fill the store of the garden, and keep busy whoever decides about them.
package requestlimit

import (
	"context"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	// most is how many requests a user has at most. One that is decided is deleted after an hour, and one that nobody decides about after a
	// day: a gardenlet that makes a new one every fifteen minutes, and one that restarts every five, stay below.
	most = 100
	// size is how large a request is at most. One for a gardenlet has 2 KiB, with the certificate.
	size = 32 << 10

	resource = "certificatesigningrequests"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects a request of a user who has too many. Who may approve requests has no limit.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != (schema.GroupResource{Group: certificatesv1.GroupName, Resource: resource}) || a.GetSubresource() != "" {
		return nil
	}
	if exempt, err := r.exempt(ctx, a.GetUserInfo()); err != nil || exempt {
		return world.Answer(a, err)
	}
	request, _, err := world.Objects[certificatesv1.CertificateSigningRequest](a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	if n := request.Size(); n > size {
		return r.world.Rejected(a, "SizeExceeded", world.Answer(a, fmt.Errorf("the request has %d bytes, and at most %d are allowed", n, size)))
	}
	name := a.GetUserInfo().GetName()
	free, err := r.world.Room(ctx, a, "certificate requests of "+name, most, func(ctx context.Context) ([]string, error) {
		return r.of(ctx, name)
	})
	if err != nil {
		return world.Answer(a, fmt.Errorf("count certificate requests: %w", err))
	}
	if free {
		return nil
	}

	return r.world.Rejected(a, "CountExceeded", world.Answer(a, fmt.Errorf(
		"%q has %d certificate requests, or has just asked for them, and at most %d are allowed; those that are decided are deleted after an hour", name, most, most)))
}

// exempt reports whether a user has no limit.
func (r *rule) exempt(ctx context.Context, who user.Info) (bool, error) {
	return r.world.May(ctx, who, "update", world.Target{Group: certificatesv1.GroupName, Resource: resource, Subresource: "approval"})
}

// of lists the requests of a user.
func (r *rule) of(ctx context.Context, name string) ([]string, error) {
	list, err := world.List[certificatesv1.CertificateSigningRequestList](ctx, r.world.Fresh(), world.Place{
		Group: certificatesv1.GroupName, Resource: resource,
	}, fields.Everything())
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Items {
		if list.Items[i].Spec.Username == name {
			names = append(names, list.Items[i].Name)
		}
	}

	return names, nil
}

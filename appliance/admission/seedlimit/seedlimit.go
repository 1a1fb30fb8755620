// SPDX-License-Identifier: Apache-2.0

// Package seedlimit limits how many objects the clients of a seed create under names of their choice, and how many events they and the
// gardenlets of self-hosted shoots report. Most
// of what they create is named after the seed or one of its shoots, which bounds it (package seedrestriction). A client that could create
// any number of other objects could fill the store of the garden.
package seedlimit

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

// reason is the reason of all rejections in the metrics.
const reason = "SeedLimitExceeded"

// judge returns what is wrong with a request of a client of a seed; nil if it is within the limit.
type judge func(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, client seedclient.Client) error

type rule struct {
	*admission.Handler

	world   *world.World
	limits  map[schema.GroupResource]judge
	reports *reports
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	r := &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w, reports: newReports(w.Clock)}
	events := func(_ context.Context, a admission.Attributes, o admission.ObjectInterfaces, client seedclient.Client) error {
		return r.reports.within(a, o, client.Who())
	}
	r.limits = map[schema.GroupResource]judge{
		gardenoperationsv1alpha1.Resource("bastions"):         r.bastions,
		{Group: coordinationv1.GroupName, Resource: "leases"}: r.leases,
		corev1.Resource("events"):                             events,
		{Group: eventsv1.GroupName, Resource: "events"}:       events,
	}

	return r
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects what is above a limit.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	within, limited := r.limits[a.GetResource().GroupResource()]
	if !limited || a.GetSubresource() != "" {
		return nil
	}
	var err error
	if client, ok := seedclient.Of(a.GetUserInfo()); ok {
		err = within(ctx, a, o, client)
	} else if client, ok := shootclient.Of(a.GetUserInfo()); ok && a.GetResource().Resource == "events" {
		// All else that a gardenlet of a shoot creates is named after its shoot.
		err = r.reports.within(a, o, client.Who())
	}
	if err == nil {
		return nil
	}
	if _, answered := err.(apierrors.APIStatus); !answered {
		err = world.Answer(a, err)
	}

	return r.world.Rejected(a, reason, err)
}

// room returns an error if a seed has no place for another object.
func (r *rule) room(ctx context.Context, a admission.Attributes, sort string, most int, there func(context.Context) ([]string, error)) error {
	if a.GetOperation() != admission.Create {
		return nil
	}
	resource := a.GetResource().Resource
	free, err := r.world.Room(ctx, a, resource+" "+sort, most, there)
	if err != nil {
		return fmt.Errorf("count %s %s: %w", resource, sort, err)
	}
	if !free {
		return fmt.Errorf("there are %d %s %s, or have just been requested, and its clients can create no more", most, resource, sort)
	}

	return nil
}

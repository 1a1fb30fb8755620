// SPDX-License-Identifier: Apache-2.0

// Package shootrestriction restricts gardenlets of self-hosted shoots to write objects of their own shoot, whatever permissions they have.
// The shoot authorizer gives them fewer. It also restricts what people let them read through the Shoot (GAC-SHOOTR-1).
package shootrestriction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reports"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

// reason is the reason of all rejections in the metrics.
const reason = "ShootRestricted"

// errForeign rejects objects that do not belong to the client's shoot.
var errForeign = errors.New("it does not belong to an object of this shoot")

// request is a request of a client of a shoot.
type request struct {
	admission.Attributes
	world.View

	client shootclient.Client
	kinds  admission.ObjectInterfaces
}

// limit says what a client of a shoot may do with a resource: the operations on objects and on their status, and the check of
// the object.
type limit struct {
	operations, status []admission.Operation
	judge              func(ctx context.Context, r *request) error
}

type rule struct {
	*admission.Handler

	world  *world.World
	limits map[schema.GroupResource]limit
}

var (
	_ admission.MutationInterface   = &rule{}
	_ admission.ValidationInterface = &rule{}
)

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{
		Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete, admission.Connect), world: w, limits: limits(),
	}
}

func limits() map[schema.GroupResource]limit {
	core := gardencorev1beta1.Resource
	in := func(group, resource string) schema.GroupResource {
		return schema.GroupResource{Group: group, Resource: resource}
	}
	update := []admission.Operation{admission.Update}
	write := []admission.Operation{admission.Create, admission.Update}
	all := []admission.Operation{admission.Create, admission.Update, admission.Delete}

	return map[schema.GroupResource]limit{
		core("backupbuckets"):           {operations: all, status: update, judge: backupBucket},
		core("backupentries"):           {operations: all, status: update, judge: backupEntry},
		core("controllerinstallations"): {operations: update, status: update, judge: installation},
		core("internalsecrets"):         {operations: all, judge: ofShoot[gardencorev1beta1.InternalSecret](graph.InternalSecret)},
		core("shoots"):                  {operations: update, status: update, judge: ownShoot},
		core("shootstates"):             {operations: all, judge: shootState},

		in(gardenoperationsv1alpha1.GroupName, "bastions"):         {operations: write, status: update, judge: bastion},
		corev1.Resource("configmaps"):                              {operations: all, judge: ofShoot[corev1.ConfigMap](graph.ConfigMap)},
		corev1.Resource("secrets"):                                 {operations: all, judge: secret},
		corev1.Resource("events"):                                  {operations: write, judge: event},
		in(eventsv1.GroupName, "events"):                           {operations: write, judge: event},
		in(coordinationv1.GroupName, "leases"):                     {operations: write, judge: lease},
		in(certificatesv1.GroupName, "certificatesigningrequests"): {operations: all[:1], judge: signingRequest},
	}
}

// Admit implements admission.MutationInterface. It notes who reports an event.
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if _, ok := shootclient.Of(a.GetUserInfo()); !ok {
		return nil
	}

	return reports.Sign(a)
}

// Validate implements admission.ValidationInterface.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	client, ok := shootclient.Of(a.GetUserInfo())
	switch {
	case !ok:
		return r.lends(ctx, a)
	case asks(a):
		return nil
	}
	var unreported bool
	err := r.world.Decide(a, func(v world.View) error {
		err := r.judge(ctx, &request{Attributes: a, View: v, client: client, kinds: o})
		unreported = errors.Is(err, reports.ErrUnreported)

		return err
	})
	if unreported {
		err = apierrors.NewNotFound(a.GetResource().GroupResource(), a.GetName())
	}
	if err != nil {
		return r.world.Rejected(a, reason, err)
	}

	return nil
}

func (r *rule) judge(ctx context.Context, asked *request) error {
	limit, ok := r.limits[asked.GetResource().GroupResource()]
	if !ok || !limit.has(asked) {
		return fmt.Errorf("gardenlets of self-hosted shoots cannot do this: %w", errForeign)
	}
	if err := asked.selfHosted(ctx); err != nil {
		return err
	}

	if err := limit.judge(ctx, asked); err != nil {
		return err
	}

	return asked.marks()
}

// asks reports whether a request is a review, which changes nothing, of a token or of permissions.
func asks(a admission.Attributes) bool {
	return slices.Contains([]string{authenticationv1.GroupName, authorizationv1.GroupName}, a.GetResource().Group)
}

// has reports whether a limit allows a request. Subresources other than the status are not allowed.
func (l limit) has(a admission.Attributes) bool {
	switch a.GetSubresource() {
	case "":
		return slices.Contains(l.operations, a.GetOperation())
	case "status":
		return slices.Contains(l.status, a.GetOperation())
	default:
		return false
	}
}

// selfHosted rejects clients whose shoot does not exist or has its control plane on a seed, because the gardenlet of such a
// shoot is that of the seed.
func (r *request) selfHosted(ctx context.Context) error {
	if r.client == (shootclient.Client{}) {
		return fmt.Errorf("%q is not the user name of a gardenlet of a shoot: %w", r.GetUserInfo().GetName(), errForeign)
	}
	shoot, err := r.Shoot(ctx, r.client.Namespace, r.client.Name)
	if err != nil {
		return world.Missing(err, "the user is named after a shoot", "shoot", r.client.String())
	}
	// The request may have been authorized when another shoot had this name.
	if shootclient.Former(r.GetUserInfo(), shoot.CreationTimestamp.Time) {
		return fmt.Errorf("the certificate was issued for a former shoot %q: %w", r.client, errForeign)
	}
	if !hosted(shoot) {
		return nil
	}

	return fmt.Errorf("shoot %q is not self-hosted, so it does not have its own gardenlet: %w", r.client, errForeign)
}

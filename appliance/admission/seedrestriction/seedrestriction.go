// SPDX-License-Identifier: Apache-2.0

// Package seedrestriction restricts what clients of a seed create, update and delete: the permission to create Secrets is
// not a permission to create any Secret. It ignores requests of other users.
package seedrestriction

import (
	"context"
	"errors"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reports"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

// reason is the reason of all rejections in the metrics.
const reason = "SeedRestricted"

// errForeign rejects objects that do not belong to the client's seed.
var errForeign = errors.New("it does not belong to an object of this seed")

// errBootstrapped says that a managed seed has already joined and has a valid certificate.
var errBootstrapped = errors.New("has already joined and has a valid certificate; request a new one with the annotation " +
	gardencorev1beta1.AnnotationOperation + "=" + gardencorev1beta1.OperationRenewKubeconfig)

// request is a request of a client of a seed.
type request struct {
	admission.Attributes
	world.View

	client seedclient.Client
	kinds  admission.ObjectInterfaces
}

// judge checks a request on a fresh or a cached view of the garden.
type judge func(ctx context.Context, r *request) error

// limits are the checks by resource of what a client of a seed creates, updates and deletes. A resource without an entry is not
// checked.
type limits struct {
	create, update, remove, status judge
}

type rule struct {
	*admission.Handler

	world  *world.World
	limits map[schema.GroupResource]limits
}

var _ admission.ValidationInterface = &rule{}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	core, management, operations := gardencorev1beta1.Resource, group(gardenseedmanagementv1alpha1.GroupName), group(gardenoperationsv1alpha1.GroupName)
	security := group(gardensecurityv1alpha1.GroupName)
	config, internal := projectChange[corev1.ConfigMap](graph.ConfigMap), projectChange[gardencorev1beta1.InternalSecret](graph.InternalSecret)
	certificates, leases, rbac := group(certificatesv1.GroupName), group(coordinationv1.GroupName), group(rbacv1.GroupName)

	return &rule{
		Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), world: w,
		limits: map[schema.GroupResource]limits{
			core("backupbuckets"):                      {create: createBackupBucket, update: updateBackupBucket, remove: deleteBackupBucket, status: updateBackupBucket},
			core("backupentries"):                      {create: createBackupEntry, update: updateBackupEntry, status: updateEntryStatus},
			core("controllerinstallations"):            {update: updateInstallation},
			core("internalsecrets"):                    unheld(limits{create: createInternalSecret, update: updateInternalSecret, remove: internal}),
			core("seeds"):                              {create: ownSeed, update: ownSeed, remove: deleteSeed},
			core("shoots"):                             {update: updateShoot, status: updateShootStatus},
			core("shootstates"):                        unheld(limits{create: createShootState}),
			management("gardenlets"):                   {create: createGardenlet},
			management("managedseeds"):                 {update: updateManagedSeed},
			security("workloadidentities"):             {update: updateIdentity},
			operations("bastions"):                     unheld(limits{create: createBastion, update: createBastion}),
			corev1.Resource("configmaps"):              unheld(limits{create: createConfigMap, update: config, remove: config}),
			corev1.Resource("events"):                  unheld(limits{create: event, update: event}),
			group(eventsv1.GroupName)("events"):        unheld(limits{create: event, update: event}),
			corev1.Resource("secrets"):                 unheld(limits{create: createSecret, update: updateSecret, remove: deleteSecret}),
			corev1.Resource("serviceaccounts"):         unheld(limits{create: createServiceAccount, update: updateServiceAccount}),
			leases("leases"):                           unheld(limits{create: createLease}),
			certificates("certificatesigningrequests"): {create: createRequest},
			rbac("clusterrolebindings"):                {create: createBinding, update: updateBinding},
		},
	}
}

func group(name string) func(string) schema.GroupResource {
	return func(resource string) schema.GroupResource {
		return schema.GroupResource{Group: name, Resource: resource}
	}
}

// Validate implements admission.ValidationInterface.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	client, ok := seedclient.Of(a.GetUserInfo())
	if !ok {
		return nil
	}
	limits, ok := r.limits[a.GetResource().GroupResource()]
	if !ok {
		return nil
	}
	judged := limits.of(a)
	if judged == nil {
		return nil
	}
	judge := func(v world.View) error {
		return judged(ctx, &request{Attributes: a, View: v, client: client, kinds: o})
	}
	if judge(r.world.Cached()) == nil {
		return nil
	}
	err := judge(r.world.Fresh())
	if err == nil {
		return nil
	}
	if a.GetOperation() == admission.Create && r.known(ctx, a) {
		return apierrors.NewAlreadyExists(a.GetResource().GroupResource(), a.GetName())
	}
	if errors.Is(err, reports.ErrUnreported) {
		return r.world.Rejected(a, reason, apierrors.NewNotFound(a.GetResource().GroupResource(), a.GetName()))
	}
	if errors.Is(err, errBootstrapped) {
		return r.world.Rejected(a, reason, apierrors.NewBadRequest(err.Error()))
	}

	return r.world.Rejected(a, reason, world.Answer(a, err))
}

// of returns the check for a request.
func (l limits) of(a admission.Attributes) judge {
	switch part, operation := a.GetSubresource(), a.GetOperation(); {
	case part == "status" && operation == admission.Update:
		return l.status
	case part != "":
		return nil
	case operation == admission.Create:
		return l.create
	case operation == admission.Update:
		return l.update
	default:
		return l.remove
	}
}

// known returns the error that an object which the client would create already exists, if the client can read it, instead of
// the error that it may not be created (GAC-SR-1). The error is returned here and not by the store: if the request were
// passed on and the existing object were deleted at that moment, the store would write the rejected object.
func (r *rule) known(ctx context.Context, a admission.Attributes) bool {
	if a.GetName() == "" {
		return false
	}
	resource := a.GetResource()
	target := world.Target{
		Group: resource.Group, Version: resource.Version, Resource: resource.Resource, Namespace: a.GetNamespace(), Name: a.GetName(),
	}
	if may, err := r.world.May(ctx, a.GetUserInfo(), "get", target); err != nil || !may {
		return false
	}
	_, err := r.world.Fresh().Metadata(ctx, target)

	return err == nil
}

// has reports whether the name of a seed is that of the client's seed.
func (r *request) has(seed *string) bool { return seed != nil && *seed == r.client.Seed }

// elsewhere rejects objects that belong to another seed or to none. The error is the same whether the object exists or not,
// so that clients cannot find out about objects of other seeds by trying names. Failed reads give another error.
func (r *request) elsewhere(err error, path, kind, name string) error {
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("%s: read %s %q: %w", path, kind, name, err)
	}

	return fmt.Errorf("%s: %s %q is not on seed %q", path, kind, name, r.client.Seed)
}

// mine rejects another seed than the client's in an object that the client writes.
func (r *request) mine(path string, seed *string) error {
	if r.has(seed) {
		return nil
	}
	named := "no seed"
	if seed != nil {
		named = fmt.Sprintf("seed %q", *seed)
	}

	return fmt.Errorf("%s: names %s, but must be %q", path, named, r.client.Seed)
}

// object returns the new object of a request, or the old one if there is no new one.
func object[T any](r *request) (*T, error) {
	object, old, err := world.Objects[T](r.Attributes, r.kinds)
	if err != nil {
		return nil, err
	}
	if object == nil {
		return old, nil
	}

	return object, nil
}

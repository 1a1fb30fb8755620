// SPDX-License-Identifier: Apache-2.0

// Package seedrestriction judges what clients of a seed create and delete (GAC-SR): a right to create Secrets is no right
// to create any Secret. Who is no client of a seed is judged by others.
package seedrestriction

import (
	"context"
	"errors"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

// reason is that of all refusals in the metrics.
const reason = "SeedRestricted"

// errForeign is the refusal of everything that is not of the own seed.
var errForeign = errors.New("it belongs to no object of this seed")

// errBootstrapped says that a managed seed has joined already, and that its certificate is good.
var errBootstrapped = errors.New("has joined already, and its certificate is good; ask for another one with the annotation " +
	gardencorev1beta1.AnnotationOperation + "=" + gardencorev1beta1.OperationRenewKubeconfig)

// request is what a client of a seed wants.
type request struct {
	admission.Attributes
	world.View

	client seedclient.Client
	kinds  admission.ObjectInterfaces
}

// judge judges one request, about a fresh or a cached view of the garden.
type judge func(ctx context.Context, r *request) error

// limits says by resource what a client of a seed may create, change and delete. Without an entry, nothing is asked.
type limits struct {
	create, update, remove, status judge
}

type rule struct {
	*admission.Handler

	world  *world.World
	limits map[schema.GroupResource]limits
}

var _ admission.ValidationInterface = &rule{}

// New makes the rule.
func New(w *world.World) admission.Interface {
	core, management, operations := gardencorev1beta1.Resource, group(gardenseedmanagementv1alpha1.GroupName), group(gardenoperationsv1alpha1.GroupName)
	security := group(gardensecurityv1alpha1.GroupName)
	config, internal := projectChange[corev1.ConfigMap](graph.ConfigMap), projectChange[gardencorev1beta1.InternalSecret](graph.InternalSecret)
	certificates, leases, rbac := group(certificatesv1.GroupName), group(coordinationv1.GroupName), group(rbacv1.GroupName)

	return &rule{
		Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), world: w,
		limits: map[schema.GroupResource]limits{
			core("backupbuckets"):                      {create: createBackupBucket, update: updateBackupBucket, remove: deleteBackupBucket, status: updateBackupBucket},
			core("backupentries"):                      {create: createBackupEntry, update: updateBackupEntry},
			core("controllerinstallations"):            {update: updateInstallation},
			core("internalsecrets"):                    {create: createInternalSecret, update: internal, remove: internal},
			core("seeds"):                              {create: ownSeed, update: ownSeed, remove: deleteSeed},
			core("shoots"):                             {update: updateShoot},
			core("shootstates"):                        {create: createShootState},
			management("gardenlets"):                   {create: createGardenlet},
			management("managedseeds"):                 {update: updateManagedSeed},
			security("workloadidentities"):             {update: updateIdentity},
			operations("bastions"):                     {create: createBastion, update: createBastion},
			corev1.Resource("configmaps"):              {create: createConfigMap, update: config, remove: config},
			corev1.Resource("secrets"):                 {create: createSecret, update: updateSecret, remove: deleteSecret},
			corev1.Resource("serviceaccounts"):         {create: createServiceAccount, update: updateServiceAccount},
			leases("leases"):                           {create: createLease},
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
	if errors.Is(err, errBootstrapped) {
		return r.world.Rejected(a, reason, apierrors.NewBadRequest(err.Error()))
	}

	return r.world.Rejected(a, reason, world.Answer(a, err))
}

// of finds what judges a request.
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

// known reports whether what would be created is there already, as far as the client may know: who creates what it can read
// is told that it exists, and not that it may not be there (GAC-SR-1). The answer is given here. To pass the request on, so
// that the store would answer, would write the refused object if the existing one were deleted just then.
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

// has reports whether the name of a seed is that of the own one.
func (r *request) has(seed *string) bool { return seed != nil && *seed == r.client.Seed }

// elsewhere refuses what belongs to another seed, or to none. The answer is the same whether there is such an object or not:
// nobody shall find out what other seeds have by trying names. An object that could not be read is told from that.
func (r *request) elsewhere(err error, path, kind, name string) error {
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("%s: read %s %q: %w", path, kind, name, err)
	}

	return fmt.Errorf("%s: %s %q is not on seed %q", path, kind, name, r.client.Seed)
}

// mine compares the name of a seed in an object that the client writes.
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

// object is that of a request, or the one before it.
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

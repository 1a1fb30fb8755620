// SPDX-License-Identifier: Apache-2.0

// Package controllerinstallation installs extensions in the seed: it renders the Helm chart of a ControllerDeployment, which may be in
// a registry, with the values of the deployment and facts about the seed, and writes a ManagedResource with the objects into the namespace garden of
// the seed. The resource manager applies them, deletes what leaves the chart, and all of it with the installation.
//
// If the deployment asks for it, the workloads get a kubeconfig of the garden, for a service account that lives as long as the
// installation.
//
// The conditions Valid and Installed report the result. Package care checks what was installed, package required whether it is
// still needed.
package controllerinstallation

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/chart/repository"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/managed"
)

const controllerName = "controllerinstallation"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler installs extensions in one seed.
type Reconciler struct {
	kit.SeedBase

	// Version is the version of the Gardener API, for charts.
	Version string
	// FeatureGates are those of the gardenlet, for charts.
	FeatureGates map[string]bool
	// Garden reaches the garden without credentials, for the kubeconfigs of extensions.
	Garden func() *rest.Config
	// KubernetesVersion asks the seed for its version.
	KubernetesVersion func() (string, error)
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ControllerInstallationControllerConfiguration

	charts repository.Charts
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	var err error
	if r.KubernetesVersion, err = seed.AskVersion(clusters.Seed); err != nil {
		return err
	}
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	b.For(&gardencorev1beta1.ControllerInstallation{}, builder.WithPredicates(Of(r.SeedName), predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{},
	)))
	return kit.Complete(b, controllerName, r)
}

// Of admits only installations for one seed.
func Of(seedName string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(object client.Object) bool {
		installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
		return ok && installation.Spec.SeedRef != nil && installation.Spec.SeedRef.Name == seedName
	})
}

// Set is the ManagedResource of an installation in the seed (GLET-CI-5).
func Set(installation string) managed.Set {
	return managed.Set{Namespace: gardencorev1beta1.NamespaceGarden, Name: installation, Class: gardenresourcesv1alpha1.ClassSeed}
}

// inventory is where earlier versions recorded what they had applied themselves.
func inventory(installation string) deploy.Set {
	return deploy.Set{Namespace: gardencorev1beta1.NamespaceGarden, Name: installation}
}

// Namespace is the namespace of an installation, unless its chart names another one.
func Namespace(installation string) string {
	return gardencorev1beta1.NamespacePrefixExtension + installation
}

func (r *Reconciler) engine() deploy.Engine { return seed.Engine(r.SeedClient, r.Clock) }

const (
	// resyncPeriod is the time after which an installation is applied again, against changes in the seed.
	resyncPeriod = 10 * time.Minute
	// gardenPeriod is the same for extensions that depend on more of the garden than what is watched: for those with access to it, which
	// may have got another address or other authorities, and for those whose values have data of Secrets and ConfigMaps.
	gardenPeriod = time.Minute
	// applyPause is the time between two looks at what the resource manager does.
	applyPause = 500 * time.Millisecond
	// deletionPause is the time between two checks of a deletion.
	deletionPause = 5 * time.Second
)

// scope is one pass over one installation.
type scope struct {
	installation *gardencorev1beta1.ControllerInstallation
	registration *gardencorev1beta1.ControllerRegistration
	deployment   *gardencorev1.ControllerDeployment
	seed         *gardencorev1beta1.Seed
	// chart is the packed chart, and values are those of the deployment.
	chart   []byte
	values  map[string]any
	objects []client.Object
	// confidential says that the values have data of a Secret.
	confidential bool
	// kubeconfig is that of the garden; nil if the extension is to have none.
	kubeconfig *corev1.Secret
}

// period is the time until the next pass.
func (s *scope) period() time.Duration {
	if s.kubeconfig != nil || len(s.deployment.Resources) > 0 {
		return gardenPeriod
	}
	return resyncPeriod
}

// Reconcile installs one extension, or removes it. Conditions are written in any case.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installation := &gardencorev1beta1.ControllerInstallation{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, installation); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{installation: installation}
	if installation.DeletionTimestamp != nil {
		return r.delete(ctx, s)
	}
	if err := r.findDeployment(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	if s.deployment == nil || s.deployment.Helm == nil {
		return reconcile.Result{}, nil
	}
	if err := kit.EnsureFinalizer(ctx, r.GardenClient, installation, gardencorev1beta1.FinalizerControllerInstallation); err != nil {
		return kit.Result(kit.Stop(), err)
	}
	commit := kit.Begin(r.GardenClient, installation)
	outcome, err := kit.Run(ctx, s, r.findRegistration, r.findSeed, r.readChart, r.prepareAccess, r.render, r.ensureNamespace, r.grantAccess, r.apply, r.withdrawAccess)
	return commit.Status(ctx, outcome, err)
}

// set sets a condition of the status that is written at the end of the pass.
func (r *Reconciler) set(s *scope, kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string) {
	s.installation.Status.Conditions = kit.SetCondition(s.installation.Status.Conditions, gardencorev1beta1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
	}, r.Clock.Now())
}

func (r *Reconciler) invalid(s *scope, reason string, err error) (kit.Outcome, error) {
	r.set(s, gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionFalse, reason, err.Error())
	return kit.Stop(), err
}

// delete removes the objects, then the namespace, then the account in the garden, then the finalizer (GLET-CI-10).
func (r *Reconciler) delete(ctx context.Context, s *scope) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(s.installation, gardencorev1beta1.FinalizerControllerInstallation) {
		return reconcile.Result{}, nil
	}
	commit := kit.Begin(r.GardenClient, s.installation)
	outcome, err := kit.Run(ctx, s, r.removeObjects, r.removeNamespace, r.removeAccount)
	_, waiting := kit.WaitReason(err)
	switch {
	case waiting:
		r.set(s, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonDeletionPending, err.Error())
	case err != nil:
		r.set(s, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonDeletionFailed, err.Error())
	default:
		return kit.Result(kit.Stop(), kit.DropFinalizer(ctx, r.GardenClient, s.installation, gardencorev1beta1.FinalizerControllerInstallation))
	}
	return commit.Status(ctx, outcome, err)
}

// SPDX-License-Identifier: Apache-2.0

// Package selfupgrade keeps a gardenlet up to date with the Gardenlet object of its seed in the garden: it renders the chart that the object
// names with the configuration in it, and applies the result to the seed. The Deployment of the gardenlet replaces its pods then, and the next
// process goes on. Nothing is ever deleted, so without the object a gardenlet stays as it is.
package selfupgrade

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/chart/repository"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "gardenlet"
	// fieldOwner owns what is applied of the gardenlet itself.
	fieldOwner = "gardenlet-selfupgrade"
	// name is that of the Deployment and of the release.
	name = "gardenlet"
	// pollPeriod is the time between two looks at the Gardenlet. It is not watched, because as long as there is none it must not be listed.
	pollPeriod = time.Minute
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the gardenlet of one seed up to date.
type Reconciler struct {
	kit.SeedBase

	// Connection says how this gardenlet has got its access to the garden, which the next one uses unless its configuration says otherwise.
	Connection *gardenconfigv1alpha1.GardenClientConnection
	// RenewKubeconfig asks for new credentials for the garden.
	RenewKubeconfig func(ctx context.Context) error
	// KubernetesVersion asks the seed for its version.
	KubernetesVersion func() (string, error)
	// Program is the version of this gardenlet.
	Program string
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.GardenletObjectControllerConfiguration

	charts repository.Charts
	// applied is when this process has last applied the chart. There is one worker only.
	applied time.Time
	// owed says that somebody asked for the chart to be applied, and it was not since.
	owed bool
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	var err error
	if r.KubernetesVersion, err = seed.AskVersion(clusters.Seed); err != nil {
		return err
	}
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1, BaseDelay: time.Second}).
		WatchesRawSource(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			queue.Add(reconcile.Request{NamespacedName: r.key()})
			return nil
		}))
	return kit.Complete(b, controllerName, r)
}

// key is that of the Gardenlet, which has the name of the seed.
func (r *Reconciler) key() client.ObjectKey {
	return client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: r.SeedName}
}

// Reconcile upgrades the gardenlet if the Gardenlet has changed, the last time has failed, or the period is over (GLET-GL-1).
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	g := &gardenseedmanagementv1alpha1.Gardenlet{}
	err := r.GardenReader.Get(ctx, request.NamespacedName, g)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return reconcile.Result{RequeueAfter: pollPeriod}, nil // Nobody has to see a gardenlet that does not exist.
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("get Gardenlet %q: %w", request.NamespacedName, err)
	}
	if g.DeletionTimestamp != nil {
		return reconcile.Result{RequeueAfter: pollPeriod}, nil
	}
	again, err := r.answerOperation(ctx, g)
	r.owed = r.owed || again
	if err != nil || !r.owed && !r.due(g) {
		return reconcile.Result{RequeueAfter: pollPeriod}, err
	}
	commit := kit.Begin(r.GardenClient, g)
	message, err := r.upgrade(ctx, g, r.owed)
	if ctx.Err() != nil {
		return reconcile.Result{}, ctx.Err() //nolint:wrapcheck // The next process applies the same, and tells.
	}
	if kit.IsTransient(err) {
		return kit.Result(kit.Stop(), err)
	}
	condition := gardencorev1beta1.Condition{
		Type: gardenseedmanagementv1alpha1.ConditionTypeGardenletReconciled, Status: gardencorev1beta1.ConditionTrue,
		Reason: gardencorev1beta1.EventReconciled, Message: message,
	}
	if err != nil {
		condition.Status, condition.Reason, condition.Message = gardencorev1beta1.ConditionFalse, gardencorev1beta1.EventReconcileError, err.Error()
	} else {
		r.applied, r.owed = r.Clock.Now(), false
	}
	g.Status.Conditions = kit.SetCondition(g.Status.Conditions, condition, r.Clock.Now())
	g.Status.ObservedGeneration = g.Generation
	return commit.Status(ctx, kit.RequeueAfter(pollPeriod), err)
}

// due reports whether the chart has to be applied. A new process does so once, because it does not know what the last one has done.
func (r *Reconciler) due(g *gardenseedmanagementv1alpha1.Gardenlet) bool {
	return g.Status.ObservedGeneration != g.Generation || r.applied.IsZero() ||
		!kit.ConditionIs(g.Status.Conditions, gardenseedmanagementv1alpha1.ConditionTypeGardenletReconciled, gardencorev1beta1.ConditionTrue) ||
		r.Clock.Since(r.applied) >= r.Config.SyncPeriod.Duration
}

// answerOperation does what the operation annotation asks for and removes it. It reports whether the chart is to be applied again (GLET-ROT-7).
func (r *Reconciler) answerOperation(ctx context.Context, g *gardenseedmanagementv1alpha1.Gardenlet) (again bool, err error) {
	switch g.Annotations[gardencorev1beta1.AnnotationOperation] {
	case gardencorev1beta1.OperationRenewKubeconfig:
		if r.RenewKubeconfig != nil {
			err = r.RenewKubeconfig(ctx)
		}
	case gardencorev1beta1.OperationForceRedeploy:
		again = true
	default:
		return false, nil
	}
	if err != nil {
		return false, err
	}
	commit := kit.Begin(r.GardenClient, g)
	delete(g.Annotations, gardencorev1beta1.AnnotationOperation)
	return again, commit.WriteObject(ctx)
}

// errNotDeployed says that there is nothing to upgrade.
var errNotDeployed = errors.New("the gardenlet does not run as Deployment garden/gardenlet of its seed, so nothing can be upgraded: update it where it runs")

const (
	messageApplied = "The chart of the gardenlet has been applied to the seed"
	messageWavers  = messageApplied + ". It is made anew each time, with random values or the time, so it is not applied again until what it is made of changes"
)

// upgrade applies the chart, and returns what there is to say about that. A chart that makes something else of the same inputs is applied only
// if somebody asks for it. The Deployment of the gardenlet comes last, because it ends this process.
func (r *Reconciler) upgrade(ctx context.Context, g *gardenseedmanagementv1alpha1.Gardenlet, asked bool) (string, error) {
	running := &appsv1.Deployment{}
	err := r.SeedClient.Get(ctx, client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: name}, running)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return "", errNotDeployed
	}
	if err != nil {
		return "", fmt.Errorf("look for the Deployment of the gardenlet: %w", err)
	}
	p, err := r.render(ctx, g)
	if err != nil {
		return "", err
	}
	if p.made.wavers(running) && !asked {
		return messageWavers, nil
	}
	engine := deploy.Engine{Client: r.SeedClient, Owner: fieldOwner, Clock: r.Clock}
	if err := engine.Apply(ctx, p.rest...); err != nil || p.own == nil {
		return messageApplied, err
	}
	return messageApplied, engine.Apply(ctx, p.own)
}

// render pulls the chart and makes its objects.
func (r *Reconciler) render(ctx context.Context, g *gardenseedmanagementv1alpha1.Gardenlet) (product, error) {
	values, err := Values(g, r.Connection)
	if err != nil {
		return product{}, err
	}
	from := g.Spec.Deployment.Helm.OCIRepository
	if from.PullSecretRef != nil || from.CABundleSecretRef != nil {
		return product{}, errors.New("spec.deployment.helm.ociRepository: Secrets for the registry are not served yet: use one that needs none")
	}
	packed, err := r.charts.Pull(ctx, repository.Source{Repository: from})
	if err != nil {
		return product{}, err
	}
	loaded, err := chart.Load(packed)
	if err != nil {
		return product{}, err
	}
	version, err := r.KubernetesVersion()
	if err != nil {
		return product{}, err
	}
	rendered, err := loaded.Render(chart.Release{Name: name, Namespace: gardencorev1beta1.NamespaceGarden, KubernetesVersion: version}, values)
	if err != nil {
		return product{}, err
	}
	objects := make([]client.Object, 0, len(rendered))
	for _, object := range rendered {
		if namespaced, err := r.SeedClient.IsObjectNamespaced(object); err != nil {
			return product{}, fmt.Errorf("find out whether %s %q has a namespace: %w", object.GetKind(), object.GetName(), err)
		} else if namespaced && object.GetNamespace() == "" {
			object.SetNamespace(gardencorev1beta1.NamespaceGarden)
		}
		objects = append(objects, object)
	}
	made, err := originOf(r.Program, packed, version, values, objects)
	if err != nil {
		return product{}, err
	}
	return productOf(objects, made), nil
}

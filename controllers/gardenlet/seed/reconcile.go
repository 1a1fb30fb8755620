// SPDX-License-Identifier: Apache-2.0

// Package seed prepares one seed for shoots and reports on it: custom resource definitions of the extension contract,
// the namespace garden, the identity of the cluster, the extensions that act for the seed as a whole with the objects that they are given,
// and the status of the Seed in the garden.
//
// A pass that has something new to do shows its progress as the Seed's last operation. Periodic passes only correct what
// others changed, and have the extensions look as well. A Seed in deletion is kept until no Shoot and no
// ControllerInstallation needs it.
package seed

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/gardentoken"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/referred"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/workloadidentity"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// progressPeriod is the shortest time between two reports of progress.
const progressPeriod = 5 * time.Second

// scope is one pass over the seed.
type scope struct {
	seed *gardencorev1beta1.Seed
	// run is the operation on the seed. It changes seed in place.
	run *operation.Operation[*gardencorev1beta1.Seed]
	// eventful is set if the progress of this pass is shown.
	eventful bool
	// renewed is set if the spec has changed since the last pass.
	renewed bool
	// identity and version are those of the cluster.
	identity, version string
}

func (r *Reconciler) scopeOf(seed *gardencorev1beta1.Seed) *scope {
	machine := operation.Machine[*gardencorev1beta1.Seed]{
		Kind: operation.Seeds(), Client: r.GardenClient, Reader: r.GardenReader, Recorder: r.Recorder, Clock: r.Clock, Journal: r.Journal,
		Flows: r.Flows,
	}
	return &scope{
		seed: seed, run: machine.On(seed), eventful: Eventful(seed, r.Gardenlet),
		renewed: seed.Status.ObservedGeneration != 0 && seed.Status.ObservedGeneration != seed.Generation,
	}
}

// Reconcile brings the seed to its wanted state, or cleans it up if it is in deletion.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, seed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if seed.DeletionTimestamp != nil {
		return r.delete(ctx, r.scopeOf(seed))
	}
	if err := kit.EnsureFinalizer(ctx, r.GardenClient, seed, gardencorev1beta1.FinalizerGardener); err != nil {
		return kit.Result(kit.Stop(), err)
	}
	s := r.scopeOf(seed)
	outcome, err := kit.Run(ctx, s, r.answerOperation, r.inspect, r.begin, r.deploy, r.finish)
	if err != nil {
		return fail(ctx, s, gardencorev1beta1.LastOperationTypeReconcile, err)
	}
	return kit.Result(outcome, nil)
}

// fail ends a pass with an error, also a pass that has not shown any progress.
func fail(ctx context.Context, s *scope, kind gardencorev1beta1.LastOperationType, err error) (reconcile.Result, error) {
	if ctx.Err() == nil {
		s.run.Plan(operation.Start[*gardencorev1beta1.Seed]{Type: kind})
	}
	return s.run.Fail(ctx, err)
}

// answerOperation does what the operation annotation asks for and removes it (GLET-SEED-11).
func (r *Reconciler) answerOperation(ctx context.Context, s *scope) (kit.Outcome, error) {
	switch s.seed.Annotations[gardencorev1beta1.AnnotationOperation] {
	case gardencorev1beta1.OperationReconcile:
	case gardencorev1beta1.OperationRenewKubeconfig:
		if r.RenewKubeconfig != nil {
			if err := r.RenewKubeconfig(ctx); err != nil {
				return kit.Stop(), err
			}
		}
	case gardencorev1beta1.OperationRenewGardenAccessSecrets:
		if err := r.renewTokens(ctx, gardentoken.Wanted(), gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp); err != nil {
			return kit.Stop(), err
		}
	case gardencorev1beta1.OperationRenewWorkloadIdentityTokens:
		if err := r.renewTokens(ctx, workloadidentity.Wanted(), gardensecurityv1alpha1.AnnotationWorkloadIdentityTokenRenewTimestamp); err != nil {
			return kit.Stop(), err
		}
	default:
		return kit.Continue(), nil
	}
	return kit.Continue(), s.run.Update(ctx, func(seed *gardencorev1beta1.Seed) {
		delete(seed.Annotations, gardencorev1beta1.AnnotationOperation)
	})
}

// renewTokens takes the time of the next renewal off all Secrets with a token, so that their keepers renew it at once, even if this
// process is killed before they do (GLET-SEED-11, EXT-GARDEN-4).
func (r *Reconciler) renewTokens(ctx context.Context, wanted labels.Selector, renewal string) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := r.SeedClient.List(ctx, list, client.MatchingLabelsSelector{Selector: wanted}); err != nil {
		return fmt.Errorf("list Secrets with tokens: %w", err)
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, renewal)
	for i := range list.Items {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: list.Items[i].Namespace, Name: list.Items[i].Name}}
		if err := r.SeedClient.Patch(ctx, secret, client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("ask for a new token in Secret %q: %w", client.ObjectKeyFromObject(secret), err)
		}
	}
	return nil
}

// inspect asks the cluster for its version and identity.
func (r *Reconciler) inspect(ctx context.Context, s *scope) (kit.Outcome, error) {
	var err error
	if s.version, err = r.KubernetesVersion(); err == nil {
		s.identity, err = ClusterIdentity(ctx, r.SeedClient)
	}
	return kit.Continue(), err
}

// begin writes what is known now, and, if the pass is eventful, that an operation is under way (GLET-SEED-3).
func (r *Reconciler) begin(ctx context.Context, s *scope) (kit.Outcome, error) {
	describe := func(seed *gardencorev1beta1.Seed) { r.describe(seed, s) }
	if !s.eventful {
		return kit.Continue(), s.run.Change(ctx, describe)
	}
	return kit.Continue(), s.run.Begin(ctx, operation.Start[*gardencorev1beta1.Seed]{Type: gardencorev1beta1.LastOperationTypeReconcile, Anew: s.renewed, Change: describe})
}

func (r *Reconciler) describe(seed *gardencorev1beta1.Seed, s *scope) {
	status := &seed.Status
	status.Gardener = new(r.Gardenlet)
	status.ObservedGeneration = seed.Generation
	status.KubernetesVersion = &s.version
	status.Capacity, status.Allocatable = Allocatable(r.Resources)
	if r.Expiry != nil {
		status.ClientCertificateExpirationTimestamp = r.Expiry()
	}
	if status.ClusterIdentity == nil {
		status.ClusterIdentity = &s.identity
	}
}

// addOns reads what decides about the extensions of kind Extension.
func (r *Reconciler) addOns(ctx context.Context, seed *gardencorev1beta1.Seed) (AddOns, error) {
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	if err := r.GardenReader.List(ctx, registrations); err != nil {
		return AddOns{}, fmt.Errorf("list controller registrations: %w", err)
	}
	return AddOns{
		Engine: Engine(r.SeedClient, r.Clock), Seed: seed, Registrations: registrations.Items, Installations: r.installations,
		Copier: referred.Copier{
			Garden: r.GardenClient, Reader: r.GardenReader, Seed: r.SeedClient, Clock: r.Clock, Validity: r.IdentityTokenValidity,
			Namespace: gardencorev1beta1.NamespaceGarden,
			Behalf: gardensecurityv1alpha1.ContextObject{
				APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: "Seed", Name: seed.Name, UID: seed.UID,
			},
		},
	}, nil
}

// installations reads those of the seed.
func (r *Reconciler) installations(ctx context.Context) ([]gardencorev1beta1.ControllerInstallation, error) {
	list := &gardencorev1beta1.ControllerInstallationList{}
	if err := r.GardenReader.List(ctx, list, client.MatchingFields{gardencorev1beta1.FieldSeedRefName: r.SeedName}); err != nil {
		return nil, fmt.Errorf("list controller installations of seed %q: %w", r.SeedName, err)
	}
	return list.Items, nil
}

// deploy runs the flow.
func (r *Reconciler) deploy(ctx context.Context, s *scope) (kit.Outcome, error) {
	if err := CheckVersion(s.version); err != nil {
		return kit.Stop(), err
	}
	addOns, err := r.addOns(ctx, s.seed)
	if err != nil {
		return kit.Stop(), err
	}
	graph, err := ReconcileGraph(addOns.Engine, s.identity, ResourceManagerOptions{
		Image: r.Image, PolicyNamespaces: r.PolicyNamespaces, NodeToleration: r.NodeToleration,
	}, addOns)
	if err != nil {
		return kit.Stop(), err
	}
	return kit.Continue(), s.run.Run(ctx, graph, progressPeriod)
}

// finish reports success. What an operation has done can show in the conditions, which are evaluated again (GLET-SEED-10). A periodic pass
// is none: the conditions would not hold still, and each time nothing could begin on the seed for a while.
func (r *Reconciler) finish(ctx context.Context, s *scope) (kit.Outcome, error) {
	var changes []func(*gardencorev1beta1.Seed)
	if s.eventful {
		changes = append(changes, func(seed *gardencorev1beta1.Seed) {
			seed.Status.Conditions = Reevaluate(seed.Status.Conditions, r.Clock.Now())
		})
	}
	return kit.RequeueAfter(r.Config.SyncPeriod.Duration), s.run.Succeed(ctx, changes...)
}

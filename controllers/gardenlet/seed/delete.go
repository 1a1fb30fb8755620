// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/controllers/extension/policy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	shootPause        = time.Minute
	installationPause = 5 * time.Second
)

// delete cleans up the seed once nobody needs it (GLET-SEED-12).
func (r *Reconciler) delete(ctx context.Context, s *scope) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(s.seed, gardencorev1beta1.FinalizerGardener) {
		return reconcile.Result{}, nil
	}
	outcome, err := kit.Run(ctx, s, r.beginDelete, r.awaitShoots, r.removeExtensions, r.awaitInstallations, r.awaitExtensions, r.destroy)
	if err != nil {
		return fail(ctx, s, gardencorev1beta1.LastOperationTypeDelete, err)
	}
	return kit.Result(outcome, nil)
}

func (r *Reconciler) beginDelete(ctx context.Context, s *scope) (kit.Outcome, error) {
	return kit.Continue(), s.run.Begin(ctx, operation.Start[*gardencorev1beta1.Seed]{
		Type: gardencorev1beta1.LastOperationTypeDelete,
		Change: func(seed *gardencorev1beta1.Seed) {
			seed.Status.Gardener = new(r.Gardenlet)
			seed.Status.ObservedGeneration = seed.Generation
		},
	})
}

// awaitShoots waits until no shoot needs the seed. It reads around the cache, which may not have yet the one that was bound at the last moment.
func (r *Reconciler) awaitShoots(ctx context.Context, s *scope) (kit.Outcome, error) {
	shoots := &gardencorev1beta1.ShootList{}
	if err := r.GardenReader.List(ctx, shoots, client.MatchingLabels{gardencorev1beta1.LabelPrefixSeedName + r.SeedName: "true"}); err != nil {
		return kit.Stop(), fmt.Errorf("list shoots of seed %q: %w", r.SeedName, err)
	}
	users := References(shoots.Items, r.SeedName)
	if len(users) == 0 {
		return kit.Continue(), nil
	}
	text := "Shoots still use the seed: " + strings.Join(users, ", ")
	kit.Record(r.Recorder, s.seed, kit.Notice{
		Type: corev1.EventTypeNormal, Reason: gardencorev1beta1.EventResourceReferenced, Action: gardencorev1beta1.EventActionDelete, Message: text,
	})
	return kit.Stop(), kit.Wait(shootPause, text)
}

// removeExtensions ends what extensions do for the seed, while they are still installed. Their objects keep them so.
func (r *Reconciler) removeExtensions(ctx context.Context, s *scope) (kit.Outcome, error) {
	engine := Engine(r.SeedClient, r.Clock)
	left, err := Extensions(ctx, extension.Engine{Client: r.SeedClient, Clock: r.Clock})
	if err != nil {
		return kit.Stop(), err
	}
	lent, err := engine.SetMembers(ctx, references())
	if err != nil || len(left)+len(lent) == 0 {
		return kit.Continue(), err
	}
	addOns, err := r.addOns(ctx, s.seed)
	if err != nil {
		return kit.Stop(), err
	}
	graph, err := addOns.DeleteGraph()
	if err != nil {
		return kit.Stop(), err
	}
	return kit.Continue(), s.run.Run(ctx, graph, progressPeriod)
}

// awaitInstallations waits until the garden has removed the extensions.
func (r *Reconciler) awaitInstallations(ctx context.Context, _ *scope) (kit.Outcome, error) {
	installations, err := r.installations(ctx)
	if err != nil {
		return kit.Stop(), err
	}
	var names []string
	for i := range installations {
		names = append(names, installations[i].Name)
	}
	if len(names) == 0 {
		return kit.Continue(), nil
	}
	return kit.Stop(), kit.Wait(installationPause, "Extensions are still installed: "+strings.Join(names, ", "))
}

// awaitExtensions waits until no extension object is left: nobody could finalize it without its definition.
func (r *Reconciler) awaitExtensions(ctx context.Context, _ *scope) (kit.Outcome, error) {
	definitions, err := crds.Objects()
	if err != nil {
		return kit.Stop(), err
	}
	for _, object := range definitions {
		definition, ok := object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			continue
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: definition.Spec.Group, Version: definition.Spec.Versions[0].Name, Kind: definition.Spec.Names.ListKind,
		})
		err := r.SeedClient.List(ctx, list, client.Limit(1))
		switch {
		case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		case err != nil:
			return kit.Stop(), fmt.Errorf("list %s in the seed: %w", definition.Spec.Names.Plural, err)
		case len(list.Items) > 0:
			return kit.Stop(), kit.Wait(installationPause, "Extension objects still exist: "+definition.Spec.Names.Plural)
		}
	}
	return kit.Continue(), nil
}

// destroy deletes what the gardenlet deployed, except the namespace it runs in, and removes the finalizer of the Seed.
func (r *Reconciler) destroy(ctx context.Context, s *scope) (kit.Outcome, error) {
	objects, err := crds.Objects()
	if err != nil {
		return kit.Stop(), err
	}
	identity, err := identityMap(ctx, r.SeedClient)
	if err != nil {
		return kit.Stop(), err
	}
	if written(identity) {
		objects = append(objects, identity)
	}
	engine := Engine(r.SeedClient, r.Clock)
	if done, err := engine.DeleteSet(ctx, ResourceManagerSet()); err != nil || !done {
		return kit.Stop(), cmp.Or(err, kit.Wait(installationPause, "The resource manager is being deleted"))
	}
	if err := removeResourceManagerSecrets(ctx, engine); err != nil {
		return kit.Stop(), err
	}
	objects = slices.Concat(objects, resourceManagerLeftovers(), policy.Objects())
	if err := engine.Delete(ctx, objects...); err != nil {
		return kit.Stop(), err
	}
	waitCtx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := engine.WaitGone(waitCtx, objects...); err != nil {
		return kit.Stop(), err
	}
	if err := s.run.Succeed(ctx); err != nil {
		return kit.Stop(), err
	}
	return kit.Stop(), kit.DropFinalizer(ctx, r.GardenClient, s.seed, gardencorev1beta1.FinalizerGardener)
}

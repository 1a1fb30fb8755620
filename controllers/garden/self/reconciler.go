// SPDX-License-Identifier: Apache-2.0

package self

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "garden"

type (
	garden = gardenoperatorv1alpha1.Garden
	spec   = gardenoperatorv1alpha1.GardenSpec
)

// Server is the server that the Garden describes.
type Server struct {
	// Identity is the unique name of the garden.
	Identity string
	// Settled reports whether the server has started: before, its health says nothing.
	Settled func() bool
	// Describe returns the spec that the Garden should have, with what users have set in the present one.
	Describe func(present *spec) *spec
	// Apply makes the server do what users have set in the spec, which may have changed since the last time.
	Apply func(ctx context.Context, want *spec, changed bool) error
	// Report writes what is known of the server into a status, apart from conditions, rotations and the last operation.
	Report func(status *gardenoperatorv1alpha1.GardenStatus) error
	// Health returns a condition of each type, without times. With an error it returns those that do not depend on what has failed.
	Health func(ctx context.Context) ([]gardencorev1beta1.Condition, error)
	// Operate carries out an operation. It may be repeated. An error that kit.UserMustFix marks is final.
	Operate func(ctx context.Context, operation string) error
	// Rotations tells how far the rotations of credentials are.
	Rotations func(ctx context.Context) (Rotations, error)
	// Changed receives an event when the server has changed by itself, for example by the command line.
	Changed <-chan event.GenericEvent
}

// Reconciler keeps the Garden true.
type Reconciler struct {
	kit.Base

	// Server is what the Garden describes.
	Server Server
	// Config is its section of the configuration file.
	Config gardenconfigv1alpha1.ServerGardenCareConfiguration
}

// AddToManager implements kit.Adder. There is one request, and so one worker.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	only := kit.EnqueueNamed(func(client.Object) []types.NamespacedName {
		return kit.Keys("", new(gardenoperatorv1alpha1.GardenName))
	})
	isGarden := predicate.NewPredicateFuncs(func(namespace client.Object) bool { return namespace.GetName() == gardencorev1beta1.NamespaceGarden })
	asks := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1, MaxDelay: time.Minute}).
		// The namespace always exists, so that its first event starts the pass that makes the Garden.
		Watches(&corev1.Namespace{}, only, builder.WithPredicates(isGarden)).
		Watches(&garden{}, only, builder.WithPredicates(asks)).
		WatchesRawSource(source.Channel(r.Server.Changed, only))

	return kit.Complete(b, controllerName, r)
}

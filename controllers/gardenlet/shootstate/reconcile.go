// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// scope is what one pass works on.
type scope struct {
	shoot *gardencorev1beta1.Shoot
	// last is the metadata of the state that was written last, or nil.
	last *metav1.PartialObjectMetadata
	// home is the UID of the namespace that is read.
	home  string
	state gardencorev1beta1.ShootStateSpec
}

// Reconcile saves the state of one shoot if it is due, and comes back when it is due next. A shoot in deletion needs none any more; its last
// task deletes what there is (GLET-STATE-4).
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &scope{shoot: &gardencorev1beta1.Shoot{}}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, s.shoot); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	outcome, err := kit.Run(ctx, s, r.settle, r.unmanaged, r.due, r.collect, r.confirm, r.write)
	if found, ok := errors.AsType[*problem](err); ok {
		return reconcile.Result{RequeueAfter: r.tell(ctx, s.shoot, found.reason, err)}, nil
	}
	return kit.Result(outcome, err)
}

// settle ends the pass of a shoot whose state is not to be saved, or not now.
func (r *Reconciler) settle(_ context.Context, s *scope) (kit.Outcome, error) {
	switch {
	case !r.mine(s.shoot), s.shoot.DeletionTimestamp != nil:
		return kit.Stop(), nil
	case !Settled(s.shoot):
		return kit.RequeueAfter(retry), nil
	default:
		return kit.Continue(), nil
	}
}

// unmanaged ends the pass for a seed that is a shoot itself: what is in it is backed up with its own stores.
func (r *Reconciler) unmanaged(ctx context.Context, _ *scope) (kit.Outcome, error) {
	managed := &metav1.PartialObjectMetadata{}
	managed.SetGroupVersionKind(gardenseedmanagementv1alpha1.GroupVersion.WithKind("ManagedSeed"))
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: r.SeedName}
	switch err := r.GardenReader.Get(ctx, key, managed); {
	case err == nil:
		return kit.RequeueAfter(r.schedule().Next()), nil
	case apierrors.IsNotFound(err):
		return kit.Continue(), nil
	default:
		return kit.Stop(), fmt.Errorf("look whether seed %q is a shoot itself: %w", r.SeedName, err)
	}
}

// due ends the pass if the state was written not long ago. It reads the metadata only, because states are large. A state that is older than the
// shoot is that of a former shoot with the same name.
func (r *Reconciler) due(ctx context.Context, s *scope) (kit.Outcome, error) {
	state := &metav1.PartialObjectMetadata{}
	state.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("ShootState"))
	err := r.GardenReader.Get(ctx, client.ObjectKeyFromObject(s.shoot), state)
	if apierrors.IsNotFound(err) {
		return kit.Continue(), nil
	}
	if err != nil {
		return kit.Stop(), fmt.Errorf("look when the state was last written: %w", err)
	}
	if state.CreationTimestamp.Before(&s.shoot.CreationTimestamp) {
		return kit.Continue(), nil
	}
	s.last = state
	last, err := time.Parse(time.RFC3339, state.Annotations[gardencorev1beta1.AnnotationTimestamp])
	if err != nil {
		return kit.Continue(), nil //nolint:nilerr // A state without a time that can be read is due.
	}
	if wait := r.schedule().Due(last, r.Clock.Now()); wait > 0 {
		return kit.RequeueAfter(wait), nil
	}
	return kit.Continue(), nil
}

// collect reads the state from the seed. A control plane whose namespace is not there has not lost its state: that of a seed that was made anew
// must not replace the one from before, also once the control plane is there again, with other keys (GLET-STATE-3).
func (r *Reconciler) collect(ctx context.Context, s *scope) (kit.Outcome, error) {
	if err := shoot.CheckPlace(ctx, r.SeedClient, s.shoot); err != nil {
		return kit.Stop(), fmt.Errorf("find the namespace of shoot %q: %w", s.shoot.Name, err)
	}
	namespace := &corev1.Namespace{}
	err := r.SeedClient.Get(ctx, client.ObjectKey{Name: s.shoot.Status.TechnicalID}, namespace)
	if client.IgnoreNotFound(err) != nil {
		return kit.Stop(), fmt.Errorf("get namespace %q: %w", s.shoot.Status.TechnicalID, err)
	}
	if err != nil || namespace.DeletionTimestamp != nil {
		return kit.Stop(), incomplete("namespace %q does not exist on the seed", s.shoot.Status.TechnicalID)
	}
	s.home = string(namespace.UID)
	if s.last != nil && anew(s.last, s.home) {
		return kit.Stop(), incomplete("namespace %q is not the one whose state was saved, and its keys are not those of the shoot from before; "+
			"delete the ShootState once it is not needed any more", namespace.Name)
	}
	s.state, err = Collect(ctx, r.SeedClient, s.shoot)
	return kit.Continue(), err
}

// anew reports whether a state is that of another namespace than the one with a UID. States of earlier versions do not tell.
func anew(last client.Object, home string) bool {
	of := last.GetAnnotations()[gardencorev1beta1.AnnotationShootStateNamespace]
	return of != "" && of != home
}

// confirm looks around the cache whether the shoot is still the one whose state was read. It may have been deleted meanwhile, and then nobody
// would delete what is written now.
func (r *Reconciler) confirm(ctx context.Context, s *scope) (kit.Outcome, error) {
	live := &gardencorev1beta1.Shoot{}
	found, err := kit.Live(ctx, r.GardenReader, r.GardenClient, client.ObjectKeyFromObject(s.shoot), live)
	if err != nil {
		return kit.Stop(), fmt.Errorf("read shoot %q: %w", s.shoot.Name, err)
	}
	if !found {
		return kit.Stop(), nil
	}
	if live.UID != s.shoot.UID {
		return kit.RequeueAfter(retry), nil
	}
	s.shoot = live
	return r.settle(ctx, s)
}

// tell shows why the state is not written, and returns when that is tried again.
func (r *Reconciler) tell(ctx context.Context, s *gardencorev1beta1.Shoot, reason string, err error) time.Duration {
	again := retry
	if reason == gardencorev1beta1.EventShootStateTooLarge {
		again = r.schedule().Next()
	}
	ctrl.LoggerFrom(ctx).Info("State of the shoot not saved", "reason", reason, "problem", err.Error(), "again", again)
	kit.Record(r.Recorder, s, kit.Notice{
		Type: corev1.EventTypeWarning, Reason: reason, Action: gardencorev1beta1.EventActionReconcile,
		Message: "The state of the control plane was not saved, the last one stays: " + err.Error(),
	})
	return again
}

// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

const (
	// deletionPause is the time between two checks of a deletion (GRM-DEL-3).
	deletionPause = 5 * time.Second
	// refusedPause is the time between two attempts while nobody listens at the address of an API server.
	refusedPause = 3 * time.Second
	// listed is the number of objects that a message names at most.
	listed = 10
)

// scope is one run for one ManagedResource.
type scope struct {
	mr     *gardenresourcesv1alpha1.ManagedResource
	commit *kit.Commit
	class  string
	// cluster is where the objects are, or those that are being deleted; its client reads without a cache.
	cluster client.Client
	bundle  Bundle
	// wanted are the objects to apply, and left those to leave alone.
	wanted, left []*unstructured.Unstructured
}

// Reconcile applies the objects of a ManagedResource, or deletes them.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	mr, err := r.live(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{mr: mr, commit: kit.Begin(r.Client, mr), class: ClassOf(mr)}
	if ignored(mr) {
		return r.ignore(ctx, s)
	}
	// The first run for an object writes down what it is about before it acts, so the next one has the time that it needs.
	run, cancel := target.Bound(ctx, len(mr.Status.Resources))
	defer cancel()
	outcome, err := kit.Run(run, s, r.leave, r.enter, r.find, r.read, r.announce, r.prune, r.release, r.apply)
	return s.commit.Status(ctx, outcome, err)
}

// set sets a condition of the status that is written next.
func (r *Reconciler) set(s *scope, kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string) {
	s.mr.Status.Conditions = kit.SetCondition(s.mr.Status.Conditions, gardencorev1beta1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
	}, r.Clock.Now())
}

// failed sets the condition for objects that are not applied. Lost races are tried again and not shown (GRM-APPLY-5). An API server that
// does not run, as while a shoot falls asleep and wakes up, is asked again soon: somebody waits for it to come.
func (r *Reconciler) failed(ctx context.Context, s *scope, reason string, err error) (kit.Outcome, error) {
	err = target.Explain(ctx, err)
	if kit.IsFailure(err) {
		r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionFalse, reason, err.Error())
	}
	if utilnet.IsConnectionRefused(err) {
		return kit.Stop(), kit.Wait(refusedPause, err.Error())
	}
	return kit.Stop(), err
}

// ignore says that nothing is done (GRM-MR-6).
func (r *Reconciler) ignore(ctx context.Context, s *scope) (reconcile.Result, error) {
	if !slices.Contains(target.Classes(), s.class) {
		return reconcile.Result{}, nil
	}
	const message = "Nothing is done about the ManagedResource because of its annotation " + gardenresourcesv1alpha1.AnnotationIgnore
	r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionTrue, gardenresourcesv1alpha1.ReasonIgnored, message)
	r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy, gardencorev1beta1.ConditionTrue, gardenresourcesv1alpha1.ReasonIgnored, message)
	r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesProgressing, gardencorev1beta1.ConditionFalse, gardenresourcesv1alpha1.ReasonIgnored, message)
	return s.commit.Status(ctx, kit.Stop(), nil)
}

// leave deletes the objects from the clusters where they must not be: that of an earlier class, and any if the ManagedResource is in
// deletion. It stops the run if nothing else is to be done (GRM-MR-4).
func (r *Reconciler) leave(ctx context.Context, s *scope) (kit.Outcome, error) {
	for _, class := range target.Classes() {
		if !controllerutil.ContainsFinalizer(s.mr, finalizerOf(class)) || class == s.class && s.mr.DeletionTimestamp == nil {
			continue
		}
		outcome, err := r.clean(ctx, s, class)
		if err != nil || outcome.Stopped() {
			return outcome, err
		}
	}
	if s.mr.DeletionTimestamp != nil || !slices.Contains(target.Classes(), s.class) {
		return kit.Stop(), nil
	}
	for _, finalizer := range s.mr.Finalizers {
		if strings.HasPrefix(finalizer, gardenresourcesv1alpha1.FinalizerResourceManager) && finalizer != finalizerOf(s.class) {
			message := "Waiting until the resource manager of another class has deleted the objects and removes its finalizer " + finalizer
			r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionProgressing, gardenresourcesv1alpha1.ReasonApplyProgressing, message)
			return kit.Stop(), kit.Wait(deletionPause, message)
		}
	}
	return kit.Continue(), nil
}

// clean deletes all objects from the cluster of a class, and finally removes its finalizer.
func (r *Reconciler) clean(ctx context.Context, s *scope, class string) (kit.Outcome, error) {
	left, err := r.cleanCluster(ctx, s, class)
	if err != nil || len(left) > 0 {
		r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy, gardencorev1beta1.ConditionFalse, gardenresourcesv1alpha1.ReasonDeletionPending, "The objects are being deleted")
		r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesProgressing, gardencorev1beta1.ConditionTrue, gardenresourcesv1alpha1.ReasonDeletionPending, "The objects are being deleted")
		return r.deleting(ctx, s, left, err)
	}
	s.mr.Status.Resources, s.mr.Status.SecretsDataChecksum = nil, nil
	if s.mr.DeletionTimestamp == nil {
		if err := s.commit.WriteStatus(ctx); err != nil {
			return kit.Stop(), err
		}
	}
	if err := kit.DropFinalizer(ctx, r.Client, s.mr, finalizerOf(class)); err != nil {
		return kit.Stop(), err
	}
	s.commit = kit.Begin(r.Client, s.mr)
	return kit.Continue(), nil
}

// cleanCluster deletes all objects from the cluster of a class, unless they are to be kept. It returns those that still exist.
func (r *Reconciler) cleanCluster(ctx context.Context, s *scope, class string) ([]reference, error) {
	if isTrue(s.mr.Spec.KeepObjects) || len(s.mr.Status.Resources) == 0 {
		return nil, nil
	}
	cluster, err := r.Targets.Of(ctx, class, s.mr.Namespace)
	if errors.Is(err, target.ErrGone) {
		return nil, nil // the objects are gone with their cluster
	}
	if errors.Is(err, target.ErrAsleep) || errors.Is(err, kit.ErrNoShootAccess) {
		return nil, kit.Wait(deletionPause, "the objects are deleted when the shoot can be reached: "+err.Error())
	}
	if err != nil {
		return nil, err
	}
	s.cluster = cluster
	return r.remover(s, cluster).remove(ctx, s.mr.Status.Resources)
}

func (r *Reconciler) remover(s *scope, cluster client.Client) remover {
	return remover{
		target: cluster, clock: r.Clock, origin: originOf(r.ClusterID, s.mr),
		claims: isTrue(s.mr.Spec.DeletePersistentVolumeClaims), keepGarbage: r.KeepGarbage,
	}
}

// deleting ends a run because objects still exist, or cannot be deleted (GRM-DEL-3).
func (r *Reconciler) deleting(ctx context.Context, s *scope, left []reference, err error) (kit.Outcome, error) {
	if err != nil {
		return r.failed(ctx, s, gardenresourcesv1alpha1.ReasonDeletionFailed, err)
	}
	names := make([]string, 0, listed)
	for _, object := range left[:min(len(left), listed)] {
		names = append(names, told(ctx, s.cluster, object))
	}
	message := "Objects are being deleted: " + strings.Join(names, ", ")
	if len(left) > listed {
		message += fmt.Sprintf(" and %d more", len(left)-listed)
	}
	r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionProgressing, gardenresourcesv1alpha1.ReasonDeletionPending, message)
	return kit.Stop(), kit.Wait(deletionPause, message)
}

// enter takes the ManagedResource over: it removes the order to reconcile and adds the finalizer.
func (r *Reconciler) enter(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.mr.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationReconcile {
		delete(s.mr.Annotations, gardencorev1beta1.AnnotationOperation)
		if err := s.commit.WriteObject(ctx); err != nil {
			return kit.Stop(), err
		}
	}
	if err := kit.EnsureFinalizer(ctx, r.Client, s.mr, finalizerOf(s.class)); err != nil {
		return kit.Stop(), err
	}
	s.commit = kit.Begin(r.Client, s.mr)
	return kit.Continue(), nil
}

// find finds the cluster. A shoot that sleeps is left alone; one that cannot be reached yet is waited for.
func (r *Reconciler) find(ctx context.Context, s *scope) (kit.Outcome, error) {
	var err error
	s.cluster, err = r.Targets.Of(ctx, s.class, s.mr.Namespace)
	switch {
	case errors.Is(err, target.ErrAsleep):
		return kit.RequeueAfter(r.SyncPeriod), nil
	case errors.Is(err, kit.ErrNoShootAccess):
		r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionProgressing,
			gardenresourcesv1alpha1.ReasonApplyProgressing, "Waiting for access to the shoot")
		return kit.Stop(), kit.Wait(deletionPause, "waiting for access to the shoot")
	case err != nil:
		return r.failed(ctx, s, gardenresourcesv1alpha1.ReasonApplyFailed, err)
	default:
		return kit.Continue(), nil
	}
}

// unfinished reports whether a condition says that a run failed or waits; its reason and message are kept while the next run begins.
func unfinished(condition *gardencorev1beta1.Condition) bool {
	return condition != nil && (condition.Reason == gardenresourcesv1alpha1.ReasonApplyFailed ||
		condition.Reason == gardenresourcesv1alpha1.ReasonDeletionFailed || condition.Reason == gardenresourcesv1alpha1.ReasonDeletionPending)
}

// announce writes down every object that may exist from now on. If there is anything new, health and progress are unknown
// (GRM-APPLY-3).
func (r *Reconciler) announce(ctx context.Context, s *scope) (kit.Outcome, error) {
	status, wanted := &s.mr.Status, referencesOf(s.wanted)
	sets := equivalencesOf(s.mr.Spec.Equivalences)
	all := sortReferences(slices.Concat(wanted, equivalences{}.without(status.Resources, wanted)))
	known := status.SecretsDataChecksum != nil && *status.SecretsDataChecksum == s.bundle.Checksum
	if known && sameObjects(all, status.Resources) && len(sets.without(status.Resources, wanted)) == 0 {
		return kit.Continue(), nil
	}
	have := query.FindCondition(status.Conditions, gardenresourcesv1alpha1.ConditionTypeResourcesApplied)
	pendingAlready := kit.ConditionIs(status.Conditions, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy, gardencorev1beta1.ConditionUnknown)
	if unfinished(have) && pendingAlready && sameObjects(all, status.Resources) {
		return kit.Continue(), nil // the run before said so
	}
	status.Resources = all
	reason, message := gardenresourcesv1alpha1.ReasonApplyProgressing, "The objects are being applied"
	if unfinished(have) {
		reason, message = have.Reason, have.Message
	}
	const pending = "The objects are judged when they are applied"
	r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionProgressing, reason, message)
	r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy, gardencorev1beta1.ConditionUnknown, gardenresourcesv1alpha1.ReasonChecksPending, pending)
	r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesProgressing, gardencorev1beta1.ConditionUnknown, gardenresourcesv1alpha1.ReasonChecksPending, pending)
	return kit.Continue(), s.commit.WriteStatus(ctx)
}

// prune deletes what left the manifests (GRM-DEL-1).
func (r *Reconciler) prune(ctx context.Context, s *scope) (kit.Outcome, error) {
	if isTrue(s.mr.Spec.KeepObjects) {
		return kit.Continue(), nil
	}
	stay := slices.Concat(referencesOf(s.wanted), referencesOf(s.left))
	obsolete := equivalencesOf(s.mr.Spec.Equivalences).without(s.mr.Status.Resources, stay)
	left, err := r.remover(s, s.cluster).remove(ctx, obsolete)
	if err != nil || len(left) > 0 {
		return r.deleting(ctx, s, left, err)
	}
	return kit.Continue(), nil
}

func (r *Reconciler) applier(s *scope) *applier {
	return &applier{
		engine: deploy.Engine{Client: s.cluster, Owner: FieldOwner, Clock: r.Clock},
		spec:   &s.mr.Spec, origin: originOf(r.ClusterID, s.mr),
	}
}

// release leaves objects in mode Ignore to others.
func (r *Reconciler) release(ctx context.Context, s *scope) (kit.Outcome, error) {
	left := referencesOf(s.left)
	for _, managed := range s.mr.Status.Resources {
		if len(equivalences{}.without([]reference{managed}, left)) > 0 {
			continue
		}
		if err := r.applier(s).release(ctx, managed); err != nil {
			return r.failed(ctx, s, gardenresourcesv1alpha1.ReasonReleaseFailed, err)
		}
	}
	return kit.Continue(), nil
}

// apply applies the objects one after the other and writes down the result.
func (r *Reconciler) apply(ctx context.Context, s *scope) (kit.Outcome, error) {
	wanted := referencesOf(s.wanted)
	a := r.applier(s)
	for _, object := range s.wanted {
		if err := a.apply(ctx, object); err != nil {
			return r.failed(ctx, s, gardenresourcesv1alpha1.ReasonApplyFailed, err)
		}
	}
	status := &s.mr.Status
	status.Resources, status.ObservedGeneration, status.SecretsDataChecksum = wanted, s.mr.Generation, &s.bundle.Checksum
	if len(s.bundle.Broken) > 0 {
		r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionFalse,
			gardenresourcesv1alpha1.ReasonDecodingFailed, strings.Join(s.bundle.Broken, "; "))
		return kit.RequeueAfter(r.SyncPeriod), nil
	}
	r.set(s, gardenresourcesv1alpha1.ConditionTypeResourcesApplied, gardencorev1beta1.ConditionTrue,
		gardenresourcesv1alpha1.ReasonApplySucceeded, "All objects are applied")
	return kit.RequeueAfter(r.SyncPeriod), nil
}

// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// cleaning deletes what users have made inside of a shoot that is in deletion.
type cleaning struct {
	ground

	shootClient *flow.Value[client.Client]
}

func (c cleaning) fragment(found remains) fragment {
	task := func(id flow.ID, title string, do func(context.Context) error, after ...flow.ID) flow.Task {
		return flow.Task{
			ID: id, Title: title, After: after, Reads: []flow.Slot{c.shootClient}, Timeout: cleanTimeout, Skip: !found.cleanable(), Do: uncleanable(do),
		}
	}
	return fragment{destroy: []flow.Task{
		task(webhooksCleaned, "Deleting the webhooks and admission policies of the cluster", c.webhooks),
		task("clean-extended-apis", "Deleting custom resources and API services of the cluster", c.extendedAPIs, webhooksCleaned, "kcm-wait", autoscalerDeleted),
		task("clean-kubernetes-resources", "Deleting the other resources of the cluster", c.kubernetesResources, "clean-extended-apis", "controlplane-wait", optionalDeleted),
		task(cleaned, "Deleting the namespaces of the cluster", c.namespaces, "clean-kubernetes-resources"),
	}}
}

// uncleanable marks the failures of a task without which nothing inside of a shoot can be cleaned up. Its owner alone can decide to leave
// what is there, by a forced deletion, which such a failure allows (GLET-ERR-5, GLET-FORCE-1).
func uncleanable(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		return lastoperation.WithCodes(do(ctx), gardencorev1beta1.ErrorCodeCleanupClusterResources)
	}
}

func (c cleaning) clean(ctx context.Context, group CleanGroup) error {
	return Cleaner{Client: c.shootClient.Get(ctx), Clock: c.clock}.Clean(ctx, group)
}

func (c cleaning) webhooks(ctx context.Context) error {
	period := grace(c.facts.Shoot, gardencorev1beta1.AnnotationShootCleanupWebhooksGrace, 5*time.Minute)
	return c.clean(ctx, CleanGroup{Kinds: refusingKinds(), DeleteGrace: min(period, 5*time.Minute), FinalizeAfter: period})
}

// refusingKinds are those with which users refuse requests, or change them. Without its bindings a policy does nothing.
func refusingKinds() []schema.GroupVersionKind {
	v1 := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	return []schema.GroupVersionKind{
		v1.WithKind("ValidatingWebhookConfiguration"), v1.WithKind("MutatingWebhookConfiguration"),
		v1.WithKind("ValidatingAdmissionPolicyBinding"), v1.WithKind("MutatingAdmissionPolicyBinding"),
	}
}

func (c cleaning) extendedAPIs(ctx context.Context) error {
	if _, skip := c.facts.Shoot.Annotations[gardencorev1beta1.AnnotationShootSkipCleanup]; skip {
		return nil
	}
	period := grace(c.facts.Shoot, gardencorev1beta1.AnnotationShootCleanupExtendedAPIsGrace, time.Hour)
	return c.clean(ctx, CleanGroup{
		Kinds: []schema.GroupVersionKind{
			{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"},
			{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
		},
		DeleteGrace: min(period/10, 5*time.Minute), FinalizeAfter: period,
	})
}

func (c cleaning) kubernetesResources(ctx context.Context) error {
	period := grace(c.facts.Shoot, gardencorev1beta1.AnnotationShootCleanupKubernetesResourcesGrace, 5*time.Minute)
	begin, err := c.begin(ctx)
	if err != nil {
		return err
	}
	errs, ctx := errgroup.WithContext(ctx)
	errs.Go(func() error {
		return c.clean(ctx, CleanGroup{
			Kinds: resourceKinds(c.facts.Shoot), DeleteGrace: min(period, 5*time.Minute), FinalizeAfter: period, Latest: begin.Add(period),
		})
	})
	errs.Go(func() error { return c.clean(ctx, snapshots(c.facts.Shoot)) })
	return errs.Wait()
}

// resourceKinds are the kinds of Kubernetes itself that are cleaned up. What costs money outside of the cluster always is.
func resourceKinds(shoot *gardencorev1beta1.Shoot) []schema.GroupVersionKind {
	core, apps, batch := schema.GroupVersion{Version: "v1"}, schema.GroupVersion{Group: "apps", Version: "v1"}, schema.GroupVersion{Group: "batch", Version: "v1"}
	kinds := []schema.GroupVersionKind{core.WithKind("Service"), core.WithKind("PersistentVolumeClaim")}
	if _, skip := shoot.Annotations[gardencorev1beta1.AnnotationShootSkipCleanup]; !skip {
		kinds = append(kinds,
			batch.WithKind("CronJob"), apps.WithKind("DaemonSet"), apps.WithKind("Deployment"),
			schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
			batch.WithKind("Job"), core.WithKind("Pod"), apps.WithKind("ReplicaSet"), core.WithKind("ReplicationController"), apps.WithKind("StatefulSet"),
		)
	}
	return kinds
}

const (
	// webhooksCleaned is the task after which no webhook and no policy of users refuses anything, in whatever way it is broken. Nothing is
	// written in a shoot in deletion before.
	webhooksCleaned flow.ID = "clean-webhooks"
	// cleaned is the last task of a clean-up.
	cleaned flow.ID = "clean-namespaces"

	cleanTimeout = 10 * time.Minute
	cleanPoll    = time.Second
	// kindsAtOnce is how many kinds are cleaned up at the same time. A page of each is in memory.
	kindsAtOnce = 4
	// automanagedLabel marks APIServices that the aggregator makes for its own groups.
	automanagedLabel = "kube-aggregator.kubernetes.io/automanaged"
)

// Cleaner deletes what users have made inside a shoot.
type Cleaner struct {
	Client client.Client
	Clock  clock.Clock

	// plane is set to delete what a shoot has in the seed instead.
	plane *planeCleaning
}

// CleanGroup is a set of kinds that are cleaned together.
type CleanGroup struct {
	Kinds []schema.GroupVersionKind
	// DeleteGrace is the grace period given with the deletion.
	DeleteGrace time.Duration
	// FinalizeAfter is how long an object may be in deletion before its finalizers are removed by force.
	FinalizeAfter time.Duration
	// Latest is when the youngest object was created that is waited for. If it is set, objects in namespaces that do not exist are
	// not waited for either.
	Latest time.Time
}

// Clean deletes the objects of a group until none is left. When its time is up, the error names what is left.
func (c Cleaner) Clean(ctx context.Context, group CleanGroup) error {
	return flow.Until(ctx, c.Clock, flow.Every(cleanPoll), func(ctx context.Context) error {
		left, err := c.pass(ctx, group)
		if err != nil {
			return fmt.Errorf("clean up the shoot: %w", err)
		}
		if left.none() {
			return nil
		}
		return lastoperation.WithCodes(
			fmt.Errorf("objects %s are still there: %s", c.where(), left.String()), gardencorev1beta1.ErrorCodeCleanupClusterResources,
		)
	})
}

// pass looks at every kind once and returns what is left, as kind namespace/name. What cannot be deleted does not hold up the rest.
func (c Cleaner) pass(ctx context.Context, group CleanGroup) (leftover, error) {
	var left leftover
	homes, err := c.homes(ctx, group)
	if err != nil {
		return left, err
	}
	found, failed := make([]leftover, len(group.Kinds)), make([]error, len(group.Kinds))
	var all errgroup.Group
	all.SetLimit(kindsAtOnce)
	for i, kind := range group.Kinds {
		all.Go(func() error {
			found[i], failed[i] = c.cleanKind(ctx, kind, cleanPass{CleanGroup: group, homes: homes})
			return nil
		})
	}
	_ = all.Wait() // Nothing of it fails.
	for i := range found {
		left.join(found[i])
	}
	return left, errors.Join(failed...)
}

// cleanKind deletes the objects of a kind page by page. A kind that is not served has none.
func (c Cleaner) cleanKind(ctx context.Context, kind schema.GroupVersionKind, group cleanPass) (leftover, error) {
	var left leftover
	var failed []error
	err := metadataPages(c.Client, kind, c.within()...).Each(ctx, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			obj := &page.Items[i]
			obj.SetGroupVersionKind(kind)
			if c.spares(obj) {
				continue
			}
			if !group.ignores(obj) {
				left.add(kind.Kind + " " + strings.TrimPrefix(obj.Namespace+"/"+obj.Name, "/"))
			}
			if err := errors.Join(c.confirm(ctx, obj), c.remove(ctx, obj, group.CleanGroup)); err != nil && len(failed) < maxNamedObjects {
				failed = append(failed, err)
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, kit.ErrEndless):
		left.more = true
	case err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err):
		failed = append(failed, fmt.Errorf("list %s: %w", kind.Kind, err))
	}
	return left, errors.Join(failed...)
}

// remove deletes the object; one that has been in deletion for too long loses its finalizers or its grace period.
func (c Cleaner) remove(ctx context.Context, obj *metav1.PartialObjectMetadata, group CleanGroup) error {
	if obj.DeletionTimestamp == nil {
		err := c.Client.Delete(ctx, obj,
			client.GracePeriodSeconds(int64(group.DeleteGrace.Seconds())), client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete %s %q: %w", obj.Kind, obj.Name, err)
		}
		return nil
	}
	since := c.Clock.Since(obj.DeletionTimestamp.Time)
	if since >= group.DeleteGrace {
		if err := c.announce(ctx, obj); err != nil {
			return err
		}
	}
	if isNamespace(obj) {
		return c.finalizeNamespace(ctx, obj.Name, since >= group.FinalizeAfter)
	}
	if since < group.FinalizeAfter {
		return nil
	}
	if len(obj.Finalizers) == 0 {
		// This is a pod whose node does not answer any more.
		if err := c.Client.Delete(ctx, obj, client.GracePeriodSeconds(0)); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete %s %q without grace: %w", obj.Kind, obj.Name, err)
		}
		return nil
	}
	before := obj.DeepCopy()
	obj.Finalizers = nil
	if err := c.Client.Patch(ctx, obj, client.MergeFrom(before)); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove the finalizers of %s %q: %w", obj.Kind, obj.Name, err)
	}
	return nil
}

// spared reports whether an object belongs to the shoot itself and goes with its control plane.
func spared(obj *metav1.PartialObjectMetadata) bool {
	l := obj.Labels
	return l[gardencorev1beta1.LabelShootNoCleanup] == "true" || l[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleSystemComponent ||
		isNamespace(obj) && slices.Contains(ownNamespaces(), obj.Name) ||
		obj.Kind == "Service" && l["provider"] == "kubernetes" || obj.Kind == "APIService" && l[automanagedLabel] != ""
}

// grace is how long the objects of a group may be in deletion before they are finalized. An annotation of the shoot may shorten it,
// in seconds.
func grace(shoot *gardencorev1beta1.Shoot, annotation string, otherwise time.Duration) time.Duration {
	seconds, err := strconv.Atoi(shoot.Annotations[annotation])
	if err != nil || seconds < 0 {
		return otherwise
	}
	return min(time.Duration(seconds)*time.Second, otherwise)
}

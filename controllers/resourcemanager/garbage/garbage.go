// SPDX-License-Identifier: Apache-2.0

// Package garbage deletes immutable ConfigMaps and Secrets that nothing refers to any more. Their makers give them a new name for each
// content and mark them with a label, and mark workloads that use them with an annotation.
package garbage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

// grace is how old a candidate has to be: the client that created it may not have written what refers to it yet (GRM-GC-2).
const grace = 10 * time.Minute

// most is for how many objects of a shoot a collection has time. The next one goes on.
const most = 240

// Collector collects garbage in the seed and in its shoots that are awake.
type Collector struct {
	// Targets finds the clusters.
	Targets target.Finder
	// Period is the time between two collections.
	Period time.Duration
	// Clock tells the time.
	Clock clock.Clock

	// unused is what nothing referred to in the last collection, for each namespace of a shoot; that of the seed is empty. A process that
	// starts knows nothing and deletes nothing the first time.
	unused map[string]sets.Set[types.UID]
}

// Start collects garbage until ctx ends. It implements manager.Runnable, and runs in the leader only.
func (c *Collector) Start(ctx context.Context) error {
	for {
		if err := c.Collect(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "Some garbage could not be collected")
		}
		timer := c.Clock.NewTimer(c.Period)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// Collect collects garbage in all clusters. A cluster that fails does not stop the others (GRM-GC-4), and begins anew. Calls do not overlap.
func (c *Collector) Collect(ctx context.Context) error {
	before := c.unused
	c.unused = map[string]sets.Set[types.UID]{}
	errs := []error{c.collect(ctx, "", c.Targets.Seed, before[""])}
	namespaces, err := c.Targets.Awake(ctx)
	errs = append(errs, err)
	for _, namespace := range namespaces {
		if err := c.collectShoot(ctx, namespace, before[namespace]); err != nil {
			errs = append(errs, fmt.Errorf("collect garbage of the shoot of namespace %q: %w", namespace, err))
		}
	}
	return errors.Join(errs...)
}

// collectShoot collects garbage in a shoot that can be reached. One that answers slowly must not hold up the others.
func (c *Collector) collectShoot(ctx context.Context, namespace string, before sets.Set[types.UID]) error {
	shoot, err := c.Targets.Of(ctx, gardenresourcesv1alpha1.ClassDefault, namespace)
	if errors.Is(err, kit.ErrNoShootAccess) || errors.Is(err, target.ErrAsleep) {
		return nil
	}
	if err != nil {
		return err
	}
	run, cancel := target.Bound(ctx, most)
	defer cancel()
	return target.Explain(run, c.collect(run, namespace, shoot, before))
}

// collect deletes what nothing of a cluster refers to, and did not in the last collection either. What refers to an object need not change it:
// an object that has just come back into use is not seen by the deletion. The candidates are listed first: what is made later has grace.
func (c *Collector) collect(ctx context.Context, namespace string, cluster client.Client, before sets.Set[types.UID]) error {
	candidates, err := c.candidates(ctx, cluster)
	if err != nil || len(candidates) == 0 {
		return err
	}
	used, err := users(ctx, cluster)
	if err != nil {
		return err
	}
	unused := sets.Set[types.UID]{}
	c.unused[namespace] = unused
	var errs []error
	for i := range candidates {
		object := &candidates[i]
		if used[identity(object.Kind, object.Namespace, object.Name)] {
			continue
		}
		unused.Insert(object.UID)
		if !before.Has(object.UID) {
			continue
		}
		err := cluster.Delete(ctx, object, client.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			errs = append(errs, fmt.Errorf("delete %s %q: %w", object.Kind, client.ObjectKeyFromObject(object), err))
		}
	}
	return errors.Join(errs...)
}

func identity(kind, namespace, name string) string {
	return strings.ToLower(kind) + "/" + namespace + "/" + name
}

// candidates are the marked ConfigMaps and Secrets that are old enough.
func (c *Collector) candidates(ctx context.Context, cluster client.Client) ([]metav1.PartialObjectMetadata, error) {
	var found []metav1.PartialObjectMetadata
	for _, kind := range []string{"ConfigMap", "Secret"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := cluster.List(ctx, list, client.MatchingLabels{gardenresourcesv1alpha1.LabelGarbageCollectable: "true"}); err != nil {
			return nil, fmt.Errorf("list %ss that may be garbage: %w", kind, err)
		}
		for i := range list.Items {
			if object := list.Items[i]; object.DeletionTimestamp == nil && c.Clock.Since(object.CreationTimestamp.Time) >= grace {
				object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
				found = append(found, object)
			}
		}
	}
	return found, nil
}

// referring are the kinds that may refer to a candidate (GRM-GC-3).
func referring() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("Deployment"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"), appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
		batchv1.SchemeGroupVersion.WithKind("Job"), batchv1.SchemeGroupVersion.WithKind("CronJob"), corev1.SchemeGroupVersion.WithKind("Pod"),
		gardenresourcesv1alpha1.GroupVersion.WithKind("ManagedResource"),
		{Group: "monitoring.coreos.com", Version: "v1", Kind: "Prometheus"},
	}
}

// users are the identities of everything that is referred to. A kind that cannot be listed fails the collection, because what it
// refers to would be deleted; one that the cluster does not know refers to nothing.
func users(ctx context.Context, cluster client.Client) (map[string]bool, error) {
	used := map[string]bool{}
	for _, kind := range referring() {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := cluster.List(ctx, list); err != nil {
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
				continue
			}
			return nil, fmt.Errorf("list objects of kind %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			for key, name := range list.Items[i].Annotations {
				if of, found := strings.CutPrefix(key, gardencorev1beta1.AnnotationPrefixReference); found {
					kind, _, _ := strings.Cut(of, "-")
					used[identity(kind, list.Items[i].Namespace, name)] = true
				}
			}
		}
	}
	return used, nil
}

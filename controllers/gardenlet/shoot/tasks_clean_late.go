// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// annotationSnapshotDeleted lets a storage driver delete the snapshot behind its content.
	annotationSnapshotDeleted = "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted"
	snapshotGroup             = "snapshot.storage.k8s.io"
	kindSnapshotContent       = "VolumeSnapshotContent"
	kindNamespace             = "Namespace"
)

// begin returns when the clean-up began. It is kept where the next run finds it, so that a cluster in which something makes objects
// over and over again can be deleted (GLET-CLEAN-6).
func (c cleaning) begin(ctx context.Context) (time.Time, error) {
	namespace := &corev1.Namespace{}
	if err := c.seed.Get(ctx, client.ObjectKey{Name: c.facts.Namespace}, namespace); err != nil {
		return time.Time{}, fmt.Errorf("look when the clean-up of the shoot began: get namespace %q: %w", c.facts.Namespace, err)
	}
	if begin, err := time.Parse(time.RFC3339, namespace.Annotations[gardencorev1beta1.AnnotationShootCleanupStartTime]); err == nil {
		return begin, nil
	}
	before := namespace.DeepCopy()
	begin := c.clock.Now().UTC().Truncate(time.Second)
	metav1.SetMetaDataAnnotation(&namespace.ObjectMeta, gardencorev1beta1.AnnotationShootCleanupStartTime, begin.Format(time.RFC3339))
	if err := c.seed.Patch(ctx, namespace, client.MergeFrom(before)); err != nil {
		return time.Time{}, fmt.Errorf("note when the clean-up of the shoot began: %w", err)
	}
	return begin, nil
}

// snapshots are those of volumes. They have more time, because they are deleted at the provider.
func snapshots(shoot *gardencorev1beta1.Shoot) CleanGroup {
	period := grace(shoot, gardencorev1beta1.AnnotationShootCleanupKubernetesResourcesGrace, time.Hour)
	v1 := schema.GroupVersion{Group: snapshotGroup, Version: "v1"}
	return CleanGroup{
		Kinds:       []schema.GroupVersionKind{v1.WithKind("VolumeSnapshot"), v1.WithKind(kindSnapshotContent)},
		DeleteGrace: min(period/2, 5*time.Minute), FinalizeAfter: period,
	}
}

// namespaces deletes those that users have made, with all that is left in them: objects of further kinds may stand for something outside
// of the cluster as well (GLET-CLEAN-1).
func (c cleaning) namespaces(ctx context.Context) error {
	if _, skip := c.facts.Shoot.Annotations[gardencorev1beta1.AnnotationShootSkipCleanup]; skip {
		return nil
	}
	period := grace(c.facts.Shoot, gardencorev1beta1.AnnotationShootCleanupKubernetesResourcesGrace, 5*time.Minute)
	begin, err := c.begin(ctx)
	if err != nil {
		return err
	}
	return c.clean(ctx, CleanGroup{
		Kinds: []schema.GroupVersionKind{namespaceKind()}, FinalizeAfter: period, Latest: begin.Add(period),
	})
}

// ownNamespaces are those of every cluster. They cannot be deleted.
func ownNamespaces() []string {
	return []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}
}

func namespaceKind() schema.GroupVersionKind {
	return corev1.SchemeGroupVersion.WithKind(kindNamespace)
}

func isNamespace(obj *metav1.PartialObjectMetadata) bool {
	return obj.GroupVersionKind() == namespaceKind()
}

// finalizeNamespace lets go a namespace that was to be emptied first, and could not be in time. What is left in it goes with the stores.
// One that is empty but for an API that does not answer is not held any longer, except by those who have put finalizers on it.
func (c Cleaner) finalizeNamespace(ctx context.Context, name string, late bool) error {
	namespace := &corev1.Namespace{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !late && (len(namespace.Spec.Finalizers) == 0 || !emptied(namespace)) {
		return nil
	}
	if late && len(namespace.Finalizers) > 0 {
		before := namespace.DeepCopy()
		namespace.Finalizers = nil
		if err := c.Client.Patch(ctx, namespace, client.MergeFrom(before)); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	namespace.Spec.Finalizers = nil
	if err := c.Client.SubResource("finalize").Update(ctx, namespace); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("finalize namespace %q: %w", name, err)
	}
	return nil
}

// emptied reports whether Kubernetes has found nothing in a namespace any more, and keeps it only because some APIs could not be asked what
// there is: an APIService whose pods have no node, as that of the metrics in a cluster that was woken up without machines.
func emptied(namespace *corev1.Namespace) bool {
	found := map[corev1.NamespaceConditionType]corev1.NamespaceCondition{}
	for _, c := range namespace.Status.Conditions {
		found[c.Type] = c
	}
	for _, kind := range []corev1.NamespaceConditionType{
		corev1.NamespaceContentRemaining, corev1.NamespaceFinalizersRemaining, corev1.NamespaceDeletionContentFailure,
	} {
		if found[kind].Status != corev1.ConditionFalse {
			return false
		}
	}
	// If no API at all could be asked, then nothing has been looked for.
	failed := found[corev1.NamespaceDeletionDiscoveryFailure]
	return failed.Status == corev1.ConditionTrue && strings.HasPrefix(failed.Message, "Discovery failed for some groups")
}

// cleanPass is a group with what one pass knows of the shoot: homes are the namespaces that exist, or nil if they are not known.
type cleanPass struct {
	CleanGroup

	homes map[string]bool
}

// ignores reports whether an object is deleted but not waited for.
func (p cleanPass) ignores(obj *metav1.PartialObjectMetadata) bool {
	if p.Latest.IsZero() {
		return false
	}
	return obj.CreationTimestamp.After(p.Latest) || obj.Namespace != "" && p.homes != nil && !p.homes[obj.Namespace]
}

// homes returns the names of all namespaces, if the group asks for them and there are not too many to be known.
func (c Cleaner) homes(ctx context.Context, group CleanGroup) (map[string]bool, error) {
	if group.Latest.IsZero() {
		return nil, nil //nolint:nilnil // nobody asks
	}
	homes := map[string]bool{}
	err := metadataPages(c.Client, namespaceKind()).Each(ctx, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			if name := page.Items[i].Name; len(name) <= validation.DNS1123LabelMaxLength { // No other name is one of a namespace.
				homes[name] = true
			}
		}
		return nil
	})
	if errors.Is(err, kit.ErrEndless) {
		return nil, nil //nolint:nilnil // nobody knows them all
	}
	if err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	return homes, nil
}

// announce tells the storage driver that the content of a snapshot is being deleted, which it waits for (GLET-CLEAN-7).
func (c Cleaner) announce(ctx context.Context, obj *metav1.PartialObjectMetadata) error {
	if obj.Kind != kindSnapshotContent || obj.Annotations[annotationSnapshotDeleted] != "" {
		return nil
	}
	before := obj.DeepCopy()
	metav1.SetMetaDataAnnotation(&obj.ObjectMeta, annotationSnapshotDeleted, "yes")
	if err := c.Client.Patch(ctx, obj, client.MergeFrom(before)); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("announce the deletion of %s %q: %w", obj.Kind, obj.Name, err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// FieldOwner owns what is applied.
const FieldOwner = "gardener-resource-manager"

// loadBalancerOfOpenStack begins the annotations of Services in which a controller of load balancers keeps what it has made.
const loadBalancerOfOpenStack = "loadbalancer.openstack.org"

const description = `DO NOT EDIT - This object is managed by a ManagedResource, named in the annotation ` +
	gardenresourcesv1alpha1.AnnotationOrigin + `. Changes by hand are reverted.`

// applier applies the objects of one ManagedResource to one cluster.
type applier struct {
	engine deploy.Engine
	spec   *gardenresourcesv1alpha1.ManagedResourceSpec
	// origin is the value of the annotation with the origin.
	origin string
	// scaled are the workloads that an autoscaler of the cluster scales, as kind/namespace/name; nil before they were read.
	scaled map[string]bool
}

func get(ctx context.Context, c client.Client, r reference) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(groupVersionKind(r))
	err := c.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, live)
	if gone(err) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", describe(r), err)
	}
	return live, nil
}

// gone reports whether an error says that an object does not exist; one of an unknown kind does not (GRM-DEL-9).
func gone(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }

// apply applies one object as its manifest says, or as an exception says. It changes the object.
func (a *applier) apply(ctx context.Context, wanted *unstructured.Unstructured) error {
	a.dress(wanted)
	proceed, err := a.adapt(ctx, wanted)
	if err != nil || !proceed {
		return err
	}
	live, err := a.engine.ApplyOne(ctx, wanted)
	if err != nil {
		return a.replace(ctx, wanted, err)
	}
	return a.strip(ctx, wanted, live)
}

// adapt asks the exceptions, and reports whether to apply the object.
func (a *applier) adapt(ctx context.Context, wanted *unstructured.Unstructured) (bool, error) {
	scaled, err := a.isScaled(ctx, wanted)
	if err != nil {
		return false, err
	}
	covering := slices.DeleteFunc(exceptions(), func(e exception) bool { return !e.covers(wanted, scaled) })
	if len(covering) == 0 {
		return true, nil
	}
	live, err := get(ctx, a.engine.Client, referenceOf(wanted))
	if err != nil || live == nil {
		return true, err
	}
	for _, e := range covering {
		if !e.adapt(wanted, live) {
			return false, nil
		}
	}
	return true, nil
}

// isScaled reports whether an autoscaler of the cluster scales a workload.
func (a *applier) isScaled(ctx context.Context, wanted *unstructured.Unstructured) (bool, error) {
	if _, found, _ := unstructured.NestedFieldNoCopy(wanted.Object, "spec", "replicas"); !found {
		return false, nil
	}
	if a.scaled == nil {
		list := &autoscalingv2.HorizontalPodAutoscalerList{}
		if err := a.engine.Client.List(ctx, list); err != nil && !gone(err) {
			return false, fmt.Errorf("list autoscalers: %w", err)
		}
		a.scaled = map[string]bool{}
		for _, scaler := range list.Items {
			a.scaled[scaler.Spec.ScaleTargetRef.Kind+"/"+scaler.Namespace+"/"+scaler.Spec.ScaleTargetRef.Name] = true
		}
	}
	return a.scaled[wanted.GetKind()+"/"+wanted.GetNamespace()+"/"+wanted.GetName()], nil
}

// dress adds what every object of the ManagedResource has (GRM-APPLY-8, GRM-APPLY-9).
func (a *applier) dress(object *unstructured.Unstructured) {
	labels := maps.Clone(a.spec.InjectLabels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[gardencorev1beta1.LabelManagedBy] = gardenresourcesv1alpha1.ManagedByGardener
	object.SetLabels(over(object.GetLabels(), labels))
	object.SetAnnotations(over(object.GetAnnotations(), map[string]string{
		gardenresourcesv1alpha1.AnnotationOrigin: a.origin, gardenresourcesv1alpha1.AnnotationDescription: description,
	}))
	switch object.GroupVersionKind().Group {
	case "apps", "batch", "extensions", corev1.GroupName:
	default:
		return // the template of another kind may not have labels
	}
	if template, found, _ := unstructured.NestedMap(object.Object, "spec", "template"); found {
		addLabels(template, labels)
		_ = unstructured.SetNestedMap(object.Object, template, "spec", "template")
	}
	if claims, found, _ := unstructured.NestedSlice(object.Object, "spec", "volumeClaimTemplates"); found {
		for _, claim := range claims {
			if template, ok := claim.(map[string]any); ok {
				addLabels(template, labels)
			}
		}
		_ = unstructured.SetNestedSlice(object.Object, claims, "spec", "volumeClaimTemplates")
	}
}

func addLabels(template map[string]any, labels map[string]string) {
	existing, _, _ := unstructured.NestedStringMap(template, "metadata", "labels")
	_ = unstructured.SetNestedStringMap(template, over(existing, labels), "metadata", "labels")
}

func over(below, above map[string]string) map[string]string {
	merged := map[string]string{}
	maps.Copy(merged, below)
	maps.Copy(merged, above)
	return merged
}

// replace deletes an object that cannot become what is wanted, if it asks for that or was declared immutable, so that the next run
// creates it anew. It returns an error in any case (GRM-APPLY-14).
func (a *applier) replace(ctx context.Context, wanted *unstructured.Unstructured, refused error) error {
	if !apierrors.IsInvalid(refused) {
		return refused
	}
	live, err := get(ctx, a.engine.Client, referenceOf(wanted))
	if err != nil || live == nil {
		return refused
	}
	immutable, _, _ := unstructured.NestedBool(live.Object, "immutable")
	immutable = immutable && live.GroupVersionKind().Group == corev1.GroupName && (live.GetKind() == "ConfigMap" || live.GetKind() == "Secret")
	if !immutable && !truthy(live.GetAnnotations()[gardenresourcesv1alpha1.AnnotationDeleteOnInvalidUpdate]) {
		return refused
	}
	options := []client.DeleteOption{client.Preconditions{UID: new(live.GetUID())}}
	if propagation := live.GetAnnotations()[gardenresourcesv1alpha1.AnnotationPropagationOnInvalidUpdate]; propagation != "" {
		options = append(options, client.PropagationPolicy(metav1.DeletionPropagation(propagation)))
	}
	if err := a.engine.Client.Delete(ctx, live, options...); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s, which cannot be updated: %w", describe(referenceOf(wanted)), err)
	}
	return fmt.Errorf("%s cannot be updated and was deleted, to be created anew: %w", describe(referenceOf(wanted)), refused)
}

// strip removes labels and annotations of the live object that the manifest does not have: what others set is no business of server-side
// apply. References always go, because one that is stale keeps garbage alive; everything else if the ManagedResource asks for that
// (GRM-MERGE-2), except what the cloud controllers of OpenStack remember of a load balancer (GRM-MERGE-5).
func (a *applier) strip(ctx context.Context, wanted, live *unstructured.Unstructured) error {
	annotations := beside(live.GetAnnotations(), wanted.GetAnnotations())
	if live.GetKind() == "Service" {
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return strings.HasPrefix(key, loadBalancerOfOpenStack) })
	}
	if !isTrue(a.spec.ForceOverwriteAnnotations) {
		maps.DeleteFunc(annotations, func(key string, _ any) bool {
			return !strings.HasPrefix(key, gardencorev1beta1.AnnotationPrefixReference)
		})
	}
	labels := map[string]any{}
	if isTrue(a.spec.ForceOverwriteLabels) {
		labels = beside(live.GetLabels(), wanted.GetLabels())
		delete(labels, corev1.LabelMetadataName) // the server sets it again
	}
	if len(labels)+len(annotations) == 0 {
		return nil
	}
	return removeMetadata(ctx, a.engine.Client, live, map[string]map[string]any{"labels": labels, "annotations": annotations})
}

// beside has nothing for each key that only the live object has.
func beside(live, wanted map[string]string) map[string]any {
	foreign := map[string]any{}
	for key := range live {
		if _, found := wanted[key]; !found {
			foreign[key] = nil
		}
	}
	return foreign
}

// removeMetadata removes the keys of labels and annotations.
func removeMetadata(ctx context.Context, c client.Client, live client.Object, keys map[string]map[string]any) error {
	kind := live.GetObjectKind().GroupVersionKind().Kind
	patch, err := json.Marshal(map[string]any{"metadata": keys})
	if err == nil {
		err = c.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch))
	}
	if err != nil {
		return fmt.Errorf("remove labels or annotations of %s %q: %w", kind, live.GetName(), err)
	}
	return nil
}

// release takes the marks off an object that was managed before and is left to others now (GRM-APPLY-11).
func (a *applier) release(ctx context.Context, r reference) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(groupVersionKind(r))
	err := a.engine.Client.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, live)
	if gone(err) || err == nil && live.Annotations[gardenresourcesv1alpha1.AnnotationOrigin] != a.origin {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get %s: %w", describe(r), err)
	}
	return client.IgnoreNotFound(removeMetadata(ctx, a.engine.Client, live, map[string]map[string]any{"annotations": {
		gardenresourcesv1alpha1.AnnotationOrigin: nil, gardenresourcesv1alpha1.AnnotationDescription: nil,
	}}))
}

func isTrue(value *bool) bool { return value != nil && *value }

// originOf is the value of the annotation with the origin of the objects of a ManagedResource.
func originOf(clusterID string, mr *gardenresourcesv1alpha1.ManagedResource) string {
	return strings.TrimPrefix(clusterID+":", ":") + mr.Namespace + "/" + mr.Name
}

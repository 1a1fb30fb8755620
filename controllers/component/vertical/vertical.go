// SPDX-License-Identifier: Apache-2.0

// Package vertical sizes the components of a control plane. What the owner of a shoot demands at least, each of them requests from the
// start, on every seed. Where the cluster of the seed has VerticalPodAutoscalers, each of them gets one that makes it larger and smaller
// by its use; package gardenlet/evictions then holds back the shrinking.
package vertical

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// Kinds of workloads.
const (
	Deployment  = "Deployment"
	StatefulSet = "StatefulSet"
)

// Kind is the kind that sizes pods by their use. A cluster has it if somebody has installed the autoscaler of pods.
func Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "autoscaling.k8s.io", Version: "v1", Kind: "VerticalPodAutoscaler"}
}

// Served reports whether a cluster has it.
func Served(cluster meta.RESTMapper) (bool, error) {
	_, err := cluster.RESTMapping(Kind().GroupKind(), Kind().Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// StillServed reports the same of a cluster that had the kind once. It asks the cluster itself, because a mapper does not forget.
func StillServed(ctx context.Context, cluster client.Reader, namespace string) (bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(Kind().GroupVersion().WithKind(Kind().Kind + "List"))
	err := cluster.List(ctx, list, client.InNamespace(namespace), client.Limit(1))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find out whether the seed still has autoscalers of pods: %w", err)
	}
	return true, nil
}

// Workload is what is sized.
type Workload struct {
	// Kind and Name are those of the workload, and Labels those of the autoscaler.
	Kind, Name string
	Labels     map[string]string
	// Container is the one that is sized. What is beside it keeps its size.
	Container string
	// Least is what the container never gets less of.
	Least corev1.ResourceList
	// Most is what it never gets more of, by its use or by demand.
	Most corev1.ResourceList
	// Demanded by the owner of the shoot goes before Least, as far as Most; it may be nil.
	Demanded *gardencorev1beta1.ControlPlaneAutoscaling
	// Shrinks says when it may become smaller: at any time if empty, gardencorev1beta1.VPADownscaleInMaintenanceWindowOnly, or
	// gardencorev1beta1.VPADownscaleNever.
	Shrinks string
}

// Most is a bound of what a component gets. Its pods go before those of other shoots, so without a bound the demand of one owner could take
// a whole seed.
func Most(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// AtLeast are requests of which none is below what the owner of a shoot demands, as far as the most that the component may have. What has no
// such bound cannot be demanded.
func AtLeast(r corev1.ResourceRequirements, demanded *gardencorev1beta1.ControlPlaneAutoscaling, most corev1.ResourceList) corev1.ResourceRequirements {
	if demanded == nil {
		return r
	}
	r.Requests = maps.Clone(r.Requests)
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	for name, bound := range most {
		least := demanded.MinAllowed[string(name)]
		if least.Cmp(bound) > 0 {
			least = bound
		}
		if have := r.Requests[name]; have.Cmp(least) < 0 {
			r.Requests[name] = least
		}
	}
	return r
}

// ShrinkingDisabled reports whether the owner of a shoot forbids that its control plane becomes smaller.
func ShrinkingDisabled(f facts.Shoot) bool {
	disabled, err := strconv.ParseBool(f.Shoot.Annotations[gardencorev1beta1.AnnotationShootScaleDownDisabled])
	return err == nil && disabled
}

// Autoscaler returns the autoscaler of a workload, or nothing if the seed has no such kind. It sets requests alone: a limit would end what
// grows faster than it is seen to (BAK-ETCD-5, BAK-ETCD-9).
func Autoscaler(f facts.Shoot, w Workload) []client.Object {
	if !f.VerticalAutoscaling {
		return nil
	}
	sized := map[string]any{
		"containerName": w.Container, "controlledValues": "RequestsOnly", "maxAllowed": amounts(w.Most),
		"minAllowed": amounts(AtLeast(corev1.ResourceRequirements{Requests: w.Least}, w.Demanded, w.Most).Requests),
	}
	vpa := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"targetRef": map[string]any{"apiVersion": "apps/v1", "kind": w.Kind, "name": w.Name},
		// Most components have one pod. An autoscaler leaves such ones as they are, unless it is told that it may replace it.
		"updatePolicy": map[string]any{"updateMode": "Recreate", "minReplicas": int64(1)},
		"resourcePolicy": map[string]any{"containerPolicies": []any{
			sized, map[string]any{"containerName": "*", "mode": "Off"},
		}},
	}}}
	vpa.SetGroupVersionKind(Kind())
	vpa.SetNamespace(f.Namespace)
	vpa.SetName(w.Name)
	labels := maps.Clone(w.Labels)
	labels[gardencorev1beta1.LabelVPAEvictionRequirements] = gardencorev1beta1.LabelValueVPAEvictionRequirementsManaged
	// The seed's autoscaler may be too old for updates in place; it would refuse the object.
	labels[gardencorev1beta1.LabelVPASkipInPlaceUpdates] = "true"
	vpa.SetLabels(labels)
	vpa.SetAnnotations(restriction(f, w.Shrinks))
	return []client.Object{vpa}
}

func amounts(of corev1.ResourceList) map[string]any {
	all := map[string]any{}
	for name, amount := range of {
		all[string(name)] = amount.String()
	}
	return all
}

// restriction are the annotations that say when pods may become smaller.
func restriction(f facts.Shoot, shrinks string) map[string]string {
	if ShrinkingDisabled(f) {
		shrinks = gardencorev1beta1.VPADownscaleNever
	}
	switch shrinks {
	case "":
		return nil
	case gardencorev1beta1.VPADownscaleInMaintenanceWindowOnly:
		annotations := map[string]string{gardencorev1beta1.AnnotationVPADownscaleRestriction: shrinks}
		if m := f.Shoot.Spec.Maintenance; m != nil && m.TimeWindow != nil {
			annotations[gardencorev1beta1.AnnotationVPAMaintenanceWindow] = m.TimeWindow.Begin + "," + m.TimeWindow.End
		}
		return annotations
	default:
		return map[string]string{gardencorev1beta1.AnnotationVPADownscaleRestriction: shrinks}
	}
}

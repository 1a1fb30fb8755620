// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// replicasOwner is the suffix of the field owner that keeps a number of replicas which nobody sets any more.
const replicasOwner = "-replicas"

// Scale sets the number of replicas of an existing workload and nothing else, whoever owns it.
func (e Engine) Scale(ctx context.Context, obj client.Object, replicas int32) error {
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: obj.GetName()},
		Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
	}
	if err := e.Client.SubResource("scale").Update(ctx, obj, client.WithSubResourceBody(scale), client.FieldOwner(e.Owner)); err != nil {
		return fmt.Errorf("scale %s %q to %d: %w", kindOf(obj), obj.GetName(), replicas, err)
	}
	return nil
}

// releaseReplicas keeps the number of replicas of a workload that is about to be applied without one. A server gives a field
// that its last owner stops to apply the default value, which would scale a workload down to one pod at the moment at which
// an autoscaler takes over. So the number gets another owner first.
func (e Engine) releaseReplicas(ctx context.Context, u *unstructured.Unstructured) error {
	kind := u.GroupVersionKind().GroupKind().String()
	if kind != "Deployment.apps" && kind != "StatefulSet.apps" && kind != "ReplicaSet.apps" {
		return nil
	}
	if _, set, err := unstructured.NestedFieldNoCopy(u.Object, "spec", "replicas"); set || err != nil {
		return err
	}
	live, err := e.get(ctx, u)
	if err != nil || live == nil || !e.ownsReplicas(live) {
		return err
	}
	replicas, _, err := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if err != nil {
		return fmt.Errorf("read the replicas of %s: %w", describe(u), err)
	}
	keep, err := e.stub(u)
	if err != nil {
		return err
	}
	// If somebody scales the workload just now, this version is old, and the server refuses it.
	keep.SetResourceVersion(live.GetResourceVersion())
	keep.Object["spec"] = map[string]any{"replicas": replicas}
	owner := client.FieldOwner(e.Owner + replicasOwner)
	if err := e.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(keep), client.ForceOwnership, owner); err != nil {
		return fmt.Errorf("keep the replicas of %s: %w", describe(u), err)
	}
	return nil
}

// ownsReplicas reports whether the number of replicas was set by Apply.
func (e Engine) ownsReplicas(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
		if m.Manager != e.Owner || m.Operation != metav1.ManagedFieldsOperationApply || m.FieldsV1 == nil {
			return false
		}
		var fields struct {
			Spec map[string]any `json:"f:spec"`
		}
		if err := json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields); err != nil {
			return false
		}
		_, owned := fields.Spec["f:replicas"]
		return owned
	})
}

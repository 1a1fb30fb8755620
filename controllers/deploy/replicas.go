// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// replicasOwner is the suffix of the field owner that keeps a number of replicas that nobody sets any more.
const replicasOwner = "-replicas"

// releaseReplicas keeps the number of replicas of a workload that is about to be applied without one. When the last owner of a
// field stops applying it, a server sets the field to its default, which would scale the workload down to one pod at the moment
// when an autoscaler takes over. So the number gets another owner first.
func (e Engine) releaseReplicas(ctx context.Context, u *unstructured.Unstructured) error {
	if !ReleasesReplicas(u.GroupVersionKind().GroupKind()) {
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
	// If the workload has been scaled since then, this version is old, and the server refuses it.
	keep.SetResourceVersion(live.GetResourceVersion())
	keep.Object["spec"] = map[string]any{"replicas": replicas}
	owner := client.FieldOwner(e.Owner + replicasOwner)
	if err := e.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(keep), client.ForceOwnership, owner); err != nil {
		return fmt.Errorf("keep the replicas of %s: %w", describe(u), err)
	}
	return nil
}

// ReleasesReplicas reports whether Apply keeps the number of replicas of an object of that kind that leaves it out. Those of other kinds
// get the default of their kind instead, if Apply has set the number before.
func ReleasesReplicas(kind schema.GroupKind) bool {
	switch kind.String() {
	case "Deployment.apps", "StatefulSet.apps", "ReplicaSet.apps", "ReplicationController":
		return true
	default:
		return false
	}
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

// SPDX-License-Identifier: Apache-2.0

// Package backupbucketvalidator rejects a BackupBucket that uses a WorkloadIdentity for another provider (API-BBV-1).
package backupbucketvalidator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const kind = "WorkloadIdentity"

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate checks the identity that a bucket refers to, if the reference is new.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	b, ok := a.GetObject().(*gardencorev1beta1.BackupBucket)
	if !ok || a.GetSubresource() != "" || b.DeletionTimestamp != nil {
		return nil
	}
	ref := b.Spec.CredentialsRef
	if ref == nil || ref.Kind != kind {
		return nil
	}
	if old, ok := a.GetOldObject().(*gardencorev1beta1.BackupBucket); ok && equality.Semantic.DeepEqual(old.Spec.CredentialsRef, ref) {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		identity, err := world.Get[gardensecurityv1alpha1.WorkloadIdentity](ctx, v, world.Place{
			Group: gardensecurityv1alpha1.GroupName, Resource: "workloadidentities", Namespace: ref.Namespace, Name: ref.Name,
		})
		if err != nil {
			return world.Missing(err, "spec.credentialsRef", kind, ref.Namespace+"/"+ref.Name)
		}
		if t := identity.Spec.TargetSystem.Type; t != b.Spec.Provider.Type {
			return fmt.Errorf("spec.credentialsRef: %s %q is for provider %q, and the bucket is at %q",
				kind, ref.Namespace+"/"+ref.Name, t, b.Spec.Provider.Type)
		}
		return nil
	})
}

// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// empty rejects the deletion of a bucket while it has backup entries (API-RRM-9).
func empty(ctx context.Context, v world.View, b *gardencorev1beta1.BackupBucket) error {
	selector := fields.OneTermEqualSelector(gardencorev1beta1.FieldBucketName, b.Name)
	place := world.Place{Group: gardencorev1beta1.GroupName, Resource: "backupentries"}
	entries, err := world.List[gardencorev1beta1.BackupEntryList](ctx, v, place, selector)
	if err != nil {
		return fmt.Errorf("list entries of bucket %q: %w", b.Name, err)
	}
	if len(entries.Items) == 0 {
		return nil
	}
	names := make([]string, 0, len(entries.Items))
	for i := range entries.Items {
		names = append(names, entries.Items[i].Namespace+"/"+entries.Items[i].Name)
	}
	return fmt.Errorf("the bucket still has backup entries; delete them first: %s", strings.Join(names, ", "))
}

// keepsNames rejects enabling or disabling the DNS names of shoots on a seed that runs shoots (API-RRM-6).
func keepsNames(ctx context.Context, v world.View, s, old *gardencorev1beta1.Seed) error {
	if old.Name == "" || query.MakesNames(s) == query.MakesNames(old) {
		return nil
	}
	shoots, err := v.ShootsOn(ctx, s.Name)
	if err != nil {
		return fmt.Errorf("list shoots on the seed: %w", err)
	}
	if len(shoots) == 0 {
		return nil
	}
	return fmt.Errorf("spec.settings.shootDNS.enabled: cannot change while shoots are on the seed: %s", strings.Join(shoots, ", "))
}

// alone rejects a Gardenlet and a ManagedSeed of the same name, which would deploy two gardenlets for one seed (API-RRM-13).
func alone(ctx context.Context, v world.View, a admission.Attributes) error {
	if a.GetOperation() != admission.Create {
		return nil
	}
	resource, kind := "managedseeds", "ManagedSeed"
	if a.GetKind().Kind == kind {
		resource, kind = "gardenlets", "Gardenlet"
	}
	_, err := v.Metadata(ctx, world.Target{
		Group: gardenseedmanagementv1alpha1.GroupName, Version: gardenseedmanagementv1alpha1.GroupVersion.Version,
		Resource: resource, Namespace: a.GetNamespace(), Name: a.GetName(),
	})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read %s %q: %w", kind, a.GetName(), err)
	default:
		return fmt.Errorf("%s %q already exists and manages the gardenlet of that seed", kind, a.GetName())
	}
}

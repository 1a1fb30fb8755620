// SPDX-License-Identifier: Apache-2.0

package backupbucket

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func rules() kind.Rules[*gardencorev1beta1.BackupBucket] {
	return kind.Rules[*gardencorev1beta1.BackupBucket]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "backupbuckets",
			Singular:     "backupbucket",
			ShortNames:   []string{"bbc"},
			Categories:   []string{"all"},
		},
		New:        func() *gardencorev1beta1.BackupBucket { return &gardencorev1beta1.BackupBucket{} },
		NewList:    func() runtime.Object { return &gardencorev1beta1.BackupBucketList{} },
		Generation: true,
		SpecChanged: func(obj, old *gardencorev1beta1.BackupBucket) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		MustGrow:       reconcile,
		Validate:       validation.ValidateBackupBucket,
		ValidateUpdate: validation.ValidateBackupBucketUpdate,
		Fields:         selectable,
		Indexes: []string{
			gardencorev1beta1.FieldSeedName, gardencorev1beta1.FieldShootRefName, gardencorev1beta1.FieldShootRefNamespace,
		},
		Columns: columns(),
		Status:  status(),
	}
}

// reconcile increases the generation for the operation reconcile (API-STRAT-4).
func reconcile(obj, _ *gardencorev1beta1.BackupBucket) bool {
	if obj.Annotations[gardencorev1beta1.AnnotationOperation] != gardencorev1beta1.OperationReconcile {
		return false
	}
	delete(obj.Annotations, gardencorev1beta1.AnnotationOperation)
	return true
}

func selectable(o *gardencorev1beta1.BackupBucket) fields.Set {
	set := fields.Set{
		gardencorev1beta1.FieldSeedName:          cell.Or(o.Spec.SeedName, ""),
		gardencorev1beta1.FieldShootRefName:      "",
		gardencorev1beta1.FieldShootRefNamespace: "",
	}
	if ref := o.Spec.ShootRef; ref != nil {
		set[gardencorev1beta1.FieldShootRefName] = ref.Name
		set[gardencorev1beta1.FieldShootRefNamespace] = ref.Namespace
	}
	return set
}

func columns() []kind.Column[*gardencorev1beta1.BackupBucket] {
	return []kind.Column[*gardencorev1beta1.BackupBucket]{
		{Name: "Provider", Cell: func(o *gardencorev1beta1.BackupBucket) string { return o.Spec.Provider.Type }},
		{Name: "Seed", Cell: func(o *gardencorev1beta1.BackupBucket) string { return cell.Or(o.Spec.SeedName, "") }},
		{Name: "Operation", Cell: func(o *gardencorev1beta1.BackupBucket) string { return cell.State(o.Status.LastOperation) }},
		{Name: "Progress", Cell: func(o *gardencorev1beta1.BackupBucket) string { return cell.Progress(o.Status.LastOperation) }},
	}
}

func status() *kind.StatusRules[*gardencorev1beta1.BackupBucket] {
	return &kind.StatusRules[*gardencorev1beta1.BackupBucket]{
		Reset:    func(obj, old *gardencorev1beta1.BackupBucket) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.BackupBucket) { obj.Spec = old.Spec },
	}
}

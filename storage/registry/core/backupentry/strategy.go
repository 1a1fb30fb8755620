// SPDX-License-Identifier: Apache-2.0

package backupentry

import (
	"maps"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func rules() kind.Rules[*gardencorev1beta1.BackupEntry] {
	return kind.Rules[*gardencorev1beta1.BackupEntry]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "backupentries",
			Singular:     "backupentry",
			ShortNames:   []string{"bec"},
			Categories:   []string{"all"},
		},
		New:        func() *gardencorev1beta1.BackupEntry { return &gardencorev1beta1.BackupEntry{} },
		NewList:    func() runtime.Object { return &gardencorev1beta1.BackupEntryList{} },
		Namespaced: true,
		Generation: true,
		SpecChanged: func(obj, old *gardencorev1beta1.BackupEntry) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		MustGrow:       mustGrow,
		Canonicalize:   mirrorLabels,
		Validate:       validation.ValidateBackupEntry,
		ValidateUpdate: validation.ValidateBackupEntryUpdate,
		Fields:         selectable,
		Indexes: []string{
			gardencorev1beta1.FieldSeedName, gardencorev1beta1.FieldBucketName,
			gardencorev1beta1.FieldShootRefName, gardencorev1beta1.FieldShootRefNamespace,
		},
		Columns: columns(),
		Status:  status(),
	}
}

// mustGrow reports whether the generation increases for a reason other than the spec: an operation or a requested force
// deletion (API-STRAT-5).
func mustGrow(obj, old *gardencorev1beta1.BackupEntry) bool {
	asked := operation(obj, old)
	return asked || forced(obj) && !forced(old)
}

// operation removes the operation annotation and reports whether it requires a new generation. It does not remove restore,
// which the gardenlet removes when it is done and which increases the generation only once.
func operation(obj, old *gardencorev1beta1.BackupEntry) bool {
	const annotation = gardencorev1beta1.AnnotationOperation
	asked, given := obj.Annotations[annotation]
	if asked == gardencorev1beta1.OperationRestore {
		return old.Annotations[annotation] != asked
	}
	delete(obj.Annotations, annotation)
	return given
}

func forced(e *gardencorev1beta1.BackupEntry) bool {
	yes, err := strconv.ParseBool(e.Annotations[gardencorev1beta1.AnnotationBackupEntryForceDeletion])
	return err == nil && yes
}

// mirrorLabels sets the labels with the seeds that manage the entry (API-STRAT-10).
func mirrorLabels(e *gardencorev1beta1.BackupEntry) {
	maps.DeleteFunc(e.Labels, func(key, _ string) bool {
		return strings.HasPrefix(key, gardencorev1beta1.LabelPrefixSeedName)
	})
	for _, name := range []*string{e.Spec.SeedName, e.Status.SeedName} {
		if name != nil && *name != "" {
			metav1.SetMetaDataLabel(&e.ObjectMeta, gardencorev1beta1.LabelPrefixSeedName+*name, "true")
		}
	}
}

func selectable(o *gardencorev1beta1.BackupEntry) fields.Set {
	set := fields.Set{
		gardencorev1beta1.FieldSeedName:          cell.Or(o.Spec.SeedName, ""),
		gardencorev1beta1.FieldBucketName:        o.Spec.BucketName,
		gardencorev1beta1.FieldShootRefName:      "",
		gardencorev1beta1.FieldShootRefNamespace: "",
	}
	if ref := o.Spec.ShootRef; ref != nil {
		set[gardencorev1beta1.FieldShootRefName] = ref.Name
		set[gardencorev1beta1.FieldShootRefNamespace] = ref.Namespace
	}
	return set
}

func columns() []kind.Column[*gardencorev1beta1.BackupEntry] {
	return []kind.Column[*gardencorev1beta1.BackupEntry]{
		{Name: "Bucket", Cell: func(o *gardencorev1beta1.BackupEntry) string { return o.Spec.BucketName }},
		{Name: "Seed", Cell: func(o *gardencorev1beta1.BackupEntry) string { return cell.Or(o.Spec.SeedName, "") }},
		{Name: "Operation", Cell: func(o *gardencorev1beta1.BackupEntry) string { return cell.State(o.Status.LastOperation) }},
		{Name: "Progress", Cell: func(o *gardencorev1beta1.BackupEntry) string { return cell.Progress(o.Status.LastOperation) }},
	}
}

func status() *kind.StatusRules[*gardencorev1beta1.BackupEntry] {
	return &kind.StatusRules[*gardencorev1beta1.BackupEntry]{
		Reset:    func(obj, old *gardencorev1beta1.BackupEntry) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.BackupEntry) { obj.Spec = old.Spec },
	}
}

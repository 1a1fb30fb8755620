// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateBackupEntry checks a new BackupEntry (API-VALBB-1).
func ValidateBackupEntry(e *gardencorev1beta1.BackupEntry) field.ErrorList {
	errs := metadata(e, true, apivalidation.NameIsDNSSubdomain)
	return append(errs, backupEntrySpec(&e.Spec, field.NewPath("spec"))...)
}

// ValidateBackupEntryUpdate checks an updated BackupEntry. Bucket and seed may change: that is how an entry moves
// (API-VALBB-1).
func ValidateBackupEntryUpdate(e, old *gardencorev1beta1.BackupEntry) field.ErrorList {
	return append(metadataUpdate(e, old), backupEntrySpec(&e.Spec, field.NewPath("spec"))...)
}

func backupEntrySpec(s *gardencorev1beta1.BackupEntrySpec, path *field.Path) field.ErrorList {
	errs := given(s.BucketName, path.Child("bucketName"))
	if s.SeedName == nil && s.ShootRef == nil {
		errs = append(errs, field.Required(path.Child("seedName"), "must name the seed that manages the entry"))
	}
	return append(errs, keeper(s.SeedName, s.ShootRef, path)...)
}

// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateBackupBucket checks a new BackupBucket (API-VALBB-1).
func ValidateBackupBucket(b *gardencorev1beta1.BackupBucket) field.ErrorList {
	errs := metadata(b, false, apivalidation.NameIsDNSLabel)
	return append(errs, backupBucketSpec(&b.Spec, field.NewPath("spec"))...)
}

// ValidateBackupBucketUpdate checks an updated BackupBucket (API-VALBB-1).
func ValidateBackupBucketUpdate(b, old *gardencorev1beta1.BackupBucket) field.ErrorList {
	path := field.NewPath("spec")
	errs := metadataUpdate(b, old)
	errs = append(errs, immutable(b.Spec.Provider, old.Spec.Provider, path.Child("provider"))...)
	errs = append(errs, immutable(b.Spec.SeedName, old.Spec.SeedName, path.Child("seedName"))...)
	errs = append(errs, immutable(b.Spec.ShootRef, old.Spec.ShootRef, path.Child("shootRef"))...)
	return append(errs, backupBucketSpec(&b.Spec, path)...)
}

func backupBucketSpec(s *gardencorev1beta1.BackupBucketSpec, path *field.Path) field.ErrorList {
	provider := path.Child("provider")
	errs := given(s.Provider.Type, provider.Child("type"))
	errs = append(errs, given(s.Provider.Region, provider.Child("region"))...)
	if s.SeedName == nil && s.ShootRef == nil {
		errs = append(errs, field.Required(path.Child("seedName"), "must name the seed that manages the bucket"))
	}
	errs = append(errs, keeper(s.SeedName, s.ShootRef, path)...)
	if s.CredentialsRef == nil {
		return append(errs, field.Required(path.Child("credentialsRef"), "must name the credentials of the object store"))
	}
	return append(errs, ValidateCredentialsRef(s.CredentialsRef, path.Child("credentialsRef"))...)
}

// keeper checks which gardenlet manages a backup: that of a seed or of a self-hosted shoot.
func keeper(seed *string, shoot *corev1.ObjectReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if seed != nil {
		errs = append(errs, required(*seed, path.Child("seedName"), "a Seed")...)
	}
	if shoot == nil {
		return errs
	}
	ref := path.Child("shootRef")
	if seed != nil {
		errs = append(errs, field.Forbidden(ref, "cannot be set together with seedName: the backup is managed either by a seed or by a shoot"))
	}
	errs = append(errs, required(shoot.Name, ref.Child("name"), "a Shoot")...)
	return append(errs, required(shoot.Namespace, ref.Child("namespace"), "the namespace of the Shoot")...)
}

// given rejects an empty value.
func given(value string, path *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Invalid(path, value, "must not be empty")}
	}
	return nil
}

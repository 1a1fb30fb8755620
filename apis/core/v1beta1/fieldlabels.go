// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Field selectors that clients may use besides the name and, where a kind allows it, the namespace.
const (
	// FieldSeedName selects BackupBuckets and BackupEntries by the Seed that looks after them.
	FieldSeedName = "spec.seedName"
	// FieldBucketName selects BackupEntries by their BackupBucket.
	FieldBucketName = "spec.bucketName"
	// FieldType selects InternalSecrets by their type.
	FieldType = "type"
	// FieldProjectNamespace selects Projects by the namespace they own.
	FieldProjectNamespace = "spec.namespace"
	// FieldRegistrationRefName selects ControllerInstallations by their ControllerRegistration.
	FieldRegistrationRefName = "spec.registrationRef.name"
	// FieldSeedRefName selects ControllerInstallations by the Seed they are meant for.
	FieldSeedRefName = "spec.seedRef.name"
	// FieldShootRefName selects ControllerInstallations by the name of the self-hosted Shoot they are meant for,
	// BackupBuckets and BackupEntries by that of the one that looks after them.
	FieldShootRefName = "spec.shootRef.name"
	// FieldShootRefNamespace selects ControllerInstallations by the namespace of the self-hosted Shoot they are meant
	// for, BackupBuckets and BackupEntries by that of the one that looks after them.
	FieldShootRefNamespace = "spec.shootRef.namespace"
	// FieldShootSeedName selects Shoots by the Seed they are scheduled to.
	FieldShootSeedName = "spec.seedName"
	// FieldShootStatusSeedName selects Shoots by the Seed that runs their control plane at the moment.
	FieldShootStatusSeedName = "status.seedName"
	// FieldShootCloudProfileName selects Shoots by the deprecated name of their CloudProfile.
	FieldShootCloudProfileName = "spec.cloudProfileName"
	// FieldShootCloudProfileRefName selects Shoots by the name in their cloud profile reference.
	FieldShootCloudProfileRefName = "spec.cloudProfile.Name"
	// FieldShootCloudProfileRefKind selects Shoots by the kind in their cloud profile reference.
	FieldShootCloudProfileRefKind = "spec.cloudProfile.Kind"
)

const (
	fieldName      = "metadata.name"
	fieldNamespace = "metadata.namespace"
)

func addFieldLabelConversions(scheme *runtime.Scheme) error {
	plain := []string{fieldName, fieldNamespace}
	labels := map[string][]string{
		"BackupBucket": {
			fieldName, fieldNamespace, FieldSeedName, FieldShootRefName, FieldShootRefNamespace,
		},
		"BackupEntry": {
			fieldName, fieldNamespace, FieldSeedName, FieldBucketName, FieldShootRefName, FieldShootRefNamespace,
		},
		"CloudProfile":         plain,
		"ControllerDeployment": plain,
		"ControllerInstallation": {
			fieldName, FieldRegistrationRefName, FieldSeedRefName, FieldShootRefName, FieldShootRefNamespace,
		},
		"ControllerRegistration": plain,
		"ExposureClass":          plain,
		"InternalSecret":         {fieldName, fieldNamespace, FieldType},
		"NamespacedCloudProfile": plain,
		"Plant":                  plain,
		"Project":                {fieldName, FieldProjectNamespace},
		"Quota":                  plain,
		"SecretBinding":          plain,
		"Seed":                   plain,
		"ShootState":             plain,
		"Shoot": {
			fieldName, fieldNamespace, FieldShootSeedName, FieldShootStatusSeedName, FieldShootCloudProfileName,
			FieldShootCloudProfileRefName, FieldShootCloudProfileRefKind,
		},
	}

	for kind, allowed := range labels {
		if err := scheme.AddFieldLabelConversionFunc(GroupVersion.WithKind(kind), onlyLabels(kind, allowed)); err != nil {
			return fmt.Errorf("register field selectors of %q: %w", kind, err)
		}
	}

	return nil
}

func onlyLabels(kind string, allowed []string) runtime.FieldLabelConversionFunc {
	return func(label, value string) (string, string, error) {
		if !slices.Contains(allowed, label) {
			return "", "", fmt.Errorf("%s has no field selector %q, use one of %q", kind, label, allowed)
		}

		return label, value, nil
	}
}

// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
)

// SetDefaultsBackupBucket takes the credentials from the older field when only that is given.
func SetDefaultsBackupBucket(b *BackupBucket) {
	ref := b.Spec.SecretRef
	if b.Spec.CredentialsRef != nil || ref == nil || *ref == (corev1.SecretReference{}) {
		return
	}
	b.Spec.CredentialsRef = &corev1.ObjectReference{
		APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret", Namespace: ref.Namespace, Name: ref.Name,
	}
}

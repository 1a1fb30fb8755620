// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
)

// SetDefaultsBackupBucket sets the reference to the credentials from the older field if only that is given.
func SetDefaultsBackupBucket(b *BackupBucket) {
	ref := b.Spec.SecretRef
	if b.Spec.CredentialsRef != nil || ref == nil || *ref == (corev1.SecretReference{}) {
		return
	}
	b.Spec.CredentialsRef = &corev1.ObjectReference{
		APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret", Namespace: ref.Namespace, Name: ref.Name,
	}
}

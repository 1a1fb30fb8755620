// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Marks of rotations of credentials.
const (
	// LabelCredentialsKeyName names the Secret of the key with which an object was encrypted or a service account got its tokens.
	LabelCredentialsKeyName = "credentials.gardener.cloud/key-name"
	// AnnotationNewEncryptionKeyPopulated on the API server of a shoot says that all its instances can read what a new key encrypts.
	AnnotationNewEncryptionKeyPopulated = "credentials.gardener.cloud/new-encryption-key-populated"
	// AnnotationResourcesLabeled on the API server of a shoot says that everything was encrypted with a new key.
	AnnotationResourcesLabeled = "credentials.gardener.cloud/resources-labeled"
)

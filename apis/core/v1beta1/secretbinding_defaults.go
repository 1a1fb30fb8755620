// SPDX-License-Identifier: Apache-2.0

package v1beta1

// SetDefaultsSecretBinding sets the namespace of references without one to that of the binding (API-DEF-17).
func SetDefaultsSecretBinding(b *SecretBinding) {
	if b.SecretRef.Namespace == "" {
		b.SecretRef.Namespace = b.Namespace
	}
	for i := range b.Quotas {
		if b.Quotas[i].Namespace == "" {
			b.Quotas[i].Namespace = b.Namespace
		}
	}
}

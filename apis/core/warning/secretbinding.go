// SPDX-License-Identifier: Apache-2.0

package warning

// SecretBinding warns that the kind is deprecated and names its replacement (API-STRAT-14).
func SecretBinding() []string {
	return []string{"core.gardener.cloud/v1beta1 SecretBinding is deprecated: use a CredentialsBinding of security.gardener.cloud/v1alpha1"}
}

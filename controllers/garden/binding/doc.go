// SPDX-License-Identifier: Apache-2.0

// Package binding keeps a binding of credentials alive for as long as a Shoot uses it, and with it the credentials and the
// quotas that it names. SecretBindings and CredentialsBindings are protected alike: a Kind says how they differ. The
// credentials are labelled with the provider types that they serve, so that extensions find those that they have to check.
package binding

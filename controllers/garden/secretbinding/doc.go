// SPDX-License-Identifier: Apache-2.0

// Package secretbinding keeps a SecretBinding alive for as long as a Shoot uses it, and with it the Secret that it
// references (GCM-SECRETBINDING-1, GCM-SECRETBINDING-2). The Secret is labelled with the provider types it serves, so
// that extensions find the credentials that are theirs to check.
package secretbinding

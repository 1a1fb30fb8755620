// SPDX-License-Identifier: Apache-2.0

// Package credentialsbinding keeps CredentialsBindings: which credentials a project uses for its shoots.
package credentialsbinding

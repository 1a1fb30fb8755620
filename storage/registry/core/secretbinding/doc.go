// SPDX-License-Identifier: Apache-2.0

// Package secretbinding keeps SecretBindings: which credentials a project uses for its shoots.
package secretbinding

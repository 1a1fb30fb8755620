// SPDX-License-Identifier: Apache-2.0

// Package pki creates the certificates and keys of a cluster in a folder. Existing ones are kept unless they expire
// soon, so creating them again changes nothing.
package pki

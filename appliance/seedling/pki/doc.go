// SPDX-License-Identifier: Apache-2.0

// Package pki makes the certificates and keys of a cluster in a folder. What is there and good for another
// while stays, so that making them again changes nothing.
package pki

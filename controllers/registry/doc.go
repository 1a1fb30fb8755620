// SPDX-License-Identifier: Apache-2.0

// Package registry reaches OCI registries that are not trusted.
//
// A registry gets the credentials that are meant for it, and nothing else. It cannot make the client read more of an answer than is
// allowed, give up TLS, or hand credentials on to another host by a redirect. What it writes into its answers appears in no error, because
// that could be the credentials that it was sent.
package registry

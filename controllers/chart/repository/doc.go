// SPDX-License-Identifier: Apache-2.0

// Package repository fetches Helm charts from OCI repositories.
//
// A registry is trusted with the credentials that are meant for it, and with nothing else. What it sends has to match the digest that
// was asked for. It cannot make the client hold more than a chart may have, wait for longer than a pull may take, give up TLS, or hand
// credentials on to another host by a redirect. What it writes into its answers appears in no error, because that could be the
// credentials that it was sent.
package repository

// SPDX-License-Identifier: Apache-2.0

// Package repository fetches Helm charts from OCI repositories.
//
// What a registry sends has to match the digest that was asked for. It cannot make the client hold more than a chart may have, or wait for
// longer than a pull may take. What else protects from it is in package registry.
package repository

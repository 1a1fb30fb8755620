// SPDX-License-Identifier: Apache-2.0

// Package openapi has the OpenAPI definitions of the kinds that the garden API server serves. It does not have the
// definitions of the Kubernetes types that they refer to; the server merges those in.
package openapi

// SPDX-License-Identifier: Apache-2.0

// Package openapi describes the kinds that the garden API server serves. The descriptions of the Kubernetes types that
// they refer to are not here; a server merges them in from Kubernetes' own definitions.
package openapi

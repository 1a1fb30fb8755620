// SPDX-License-Identifier: Apache-2.0

// Package namespace renders the namespace of a shoot in its seed, and the priority classes that its control plane uses.
package namespace

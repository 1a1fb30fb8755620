// SPDX-License-Identifier: Apache-2.0

// Package images finds the container image of a component for a version of Kubernetes. The list is built in; a file can
// replace images one by one, for registries that mirror them or seeds that have no registry at all.
package images

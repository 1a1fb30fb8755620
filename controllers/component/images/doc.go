// SPDX-License-Identifier: Apache-2.0

// Package images finds the container image of a component for a version of Kubernetes. The list is built in. A file can replace
// single images, for registries that mirror them or for seeds without a registry.
package images

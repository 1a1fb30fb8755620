// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the configuration files of the two roles: that of a gardenlet, whose kind and fields are
// Gardener's own, and that of the garden's server.
//
// +k8s:deepcopy-gen=package
package v1alpha1

// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the API group extensions.gardener.cloud: the contract between a gardenlet, which
// writes what it needs, and the extension controllers on a seed, which provide it. The kinds are served from custom
// resource definitions that are generated from this package.
//
// +k8s:deepcopy-gen=package
// +groupName=extensions.gardener.cloud
package v1alpha1

// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the API group resources.gardener.cloud: the objects that a resource manager keeps up
// to date in a cluster. The kinds are served from custom resource definitions that are generated from this package.
//
// +k8s:deepcopy-gen=package
// +groupName=resources.gardener.cloud
package v1alpha1

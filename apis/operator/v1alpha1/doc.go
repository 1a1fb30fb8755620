// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the API group operator.gardener.cloud: what an operator says about the garden itself.
// A garden holds at most one Garden, which describes it.
//
// The types are used as the storage version and as the internal version, so there is no second copy and no conversion.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.gardener.gardener.pkg.apis.operator.v1alpha1
// +groupName=operator.gardener.cloud
package v1alpha1

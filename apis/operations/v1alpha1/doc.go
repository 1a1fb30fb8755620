// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the API group operations.gardener.cloud: what people need to work on a cluster by
// hand, together with the well-known strings that go with them.
//
// The types are used as the storage version and as the internal version, so there is no second copy and no conversion.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.gardener.gardener.pkg.apis.operations.v1alpha1
// +groupName=operations.gardener.cloud
package v1alpha1

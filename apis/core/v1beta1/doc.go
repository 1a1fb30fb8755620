// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds the kinds of the API group core.gardener.cloud: what users and operators say about
// clusters, seeds, projects and extensions, together with the well-known strings that go with them.
//
// The types are used as the storage version and as the internal version, so there is no second copy and no conversion.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.gardener.gardener.pkg.apis.core.v1beta1
// +groupName=core.gardener.cloud
package v1beta1

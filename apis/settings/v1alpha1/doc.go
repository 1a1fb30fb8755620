// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the API group settings.gardener.cloud: configuration that shoots without their own
// take over when they are created.
//
// The types are used as the storage version and as the internal version, so there is no second copy and no conversion.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.gardener.gardener.pkg.apis.settings.v1alpha1
// +groupName=settings.gardener.cloud
package v1alpha1

// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the API group authentication.gardener.cloud: requests for short-lived
// credentials of a shoot. They are only bodies of subresources of shoots; the group is absent from API discovery.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.gardener.gardener.pkg.apis.authentication.v1alpha1
// +groupName=authentication.gardener.cloud
package v1alpha1

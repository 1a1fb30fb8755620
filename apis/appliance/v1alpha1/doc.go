// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the API group appliance.gardener.cloud: what a garden tells about itself as an appliance.
// None of them is kept in the store of objects.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.terrarium-garden.terrarium.apis.appliance.v1alpha1
// +groupName=appliance.gardener.cloud
package v1alpha1

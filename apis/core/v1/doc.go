// SPDX-License-Identifier: Apache-2.0

// Package v1 holds ControllerDeployment of the API group core.gardener.cloud in its newer form, in which it is also
// stored and handled inside the server. The older form is in v1beta1; conversions between both are here.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.github.gardener.gardener.pkg.apis.core.v1
// +groupName=core.gardener.cloud
package v1

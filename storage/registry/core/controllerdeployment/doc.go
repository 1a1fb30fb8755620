// SPDX-License-Identifier: Apache-2.0

// Package controllerdeployment keeps ControllerDeployments: how an extension is installed on a seed. They are stored and
// handled in version v1, and also served in v1beta1.
package controllerdeployment

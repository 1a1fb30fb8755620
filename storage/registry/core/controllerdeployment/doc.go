// SPDX-License-Identifier: Apache-2.0

// Package controllerdeployment keeps ControllerDeployments: how an extension is installed on a seed. They are kept and
// handled in version v1, and served in v1beta1 too.
package controllerdeployment

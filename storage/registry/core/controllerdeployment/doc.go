// SPDX-License-Identifier: Apache-2.0

// Package controllerdeployment keeps ControllerDeployments: how an extension is installed on a seed.
package controllerdeployment

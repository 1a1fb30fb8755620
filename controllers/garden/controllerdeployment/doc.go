// SPDX-License-Identifier: Apache-2.0

// Package controllerdeployment keeps a ControllerDeployment alive for as long as a ControllerRegistration names it
// (GCM-CONTROLLERDEPLOYMENT-1).
package controllerdeployment

// SPDX-License-Identifier: Apache-2.0

// Package controllerinstallation keeps ControllerInstallations: one extension on one seed.
package controllerinstallation

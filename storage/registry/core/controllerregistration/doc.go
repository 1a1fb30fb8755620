// SPDX-License-Identifier: Apache-2.0

// Package controllerregistration keeps ControllerRegistrations: which extension offers which kinds and types.
package controllerregistration

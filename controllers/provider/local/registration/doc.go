// SPDX-License-Identifier: Apache-2.0

// Package registration says how a garden gets the extension provider-local: a ControllerRegistration for its kinds, and a
// ControllerDeployment with the chart inside.
package registration

// SPDX-License-Identifier: Apache-2.0

// Package seedcare keeps an eye on what the gardenlet deployed for its seed as a whole and reports it as condition
// SeedSystemComponentsHealthy. For now that is the custom resource definitions of the extension contract; it grows with
// package seed.
package seedcare

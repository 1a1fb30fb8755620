// SPDX-License-Identifier: Apache-2.0

// Package extensions sums up the extensions of a Seed in its condition ExtensionsReady (GCM-SEEDEXT-1, GCM-SEEDEXT-2): every
// ControllerInstallation of the seed has to be valid, installed, healthy and rolled out.
package extensions

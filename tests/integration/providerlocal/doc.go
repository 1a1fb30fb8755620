// SPDX-License-Identifier: Apache-2.0

// Package providerlocal proves the extension contract of provider-local against a real API server. A garden serves no pods, so machines are
// proven elsewhere; the definitions of the extension kinds can be installed in it like in a seed.
package providerlocal

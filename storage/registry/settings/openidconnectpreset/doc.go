// SPDX-License-Identifier: Apache-2.0

// Package openidconnectpreset keeps OpenIDConnectPresets: what new shoots of a namespace take over.
package openidconnectpreset

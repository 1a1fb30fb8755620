// SPDX-License-Identifier: Apache-2.0

// Package openidconnectpreset keeps OpenIDConnectPresets: OpenID Connect settings for new shoots of a namespace.
package openidconnectpreset

// SPDX-License-Identifier: Apache-2.0

// Package clusteropenidconnectpreset keeps ClusterOpenIDConnectPresets: OpenID Connect settings for new shoots of many projects.
package clusteropenidconnectpreset

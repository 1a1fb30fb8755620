// SPDX-License-Identifier: Apache-2.0

// Package clusteropenidconnectpreset keeps ClusterOpenIDConnectPresets: what new shoots of many projects take over.
package clusteropenidconnectpreset

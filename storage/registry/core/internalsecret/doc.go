// SPDX-License-Identifier: Apache-2.0

// Package internalsecret keeps InternalSecrets: secrets of a project that its members cannot read.
package internalsecret

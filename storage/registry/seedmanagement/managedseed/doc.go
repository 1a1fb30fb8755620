// SPDX-License-Identifier: Apache-2.0

// Package managedseed keeps ManagedSeeds: shoots that are seeds themselves.
package managedseed

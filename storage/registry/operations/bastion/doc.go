// SPDX-License-Identifier: Apache-2.0

// Package bastion keeps Bastions: hosts through which people reach the nodes of a shoot for a while.
package bastion

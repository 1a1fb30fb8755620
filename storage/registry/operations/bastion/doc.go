// SPDX-License-Identifier: Apache-2.0

// Package bastion keeps Bastions: temporary hosts through which users reach the nodes of a shoot.
package bastion

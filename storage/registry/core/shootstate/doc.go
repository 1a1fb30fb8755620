// SPDX-License-Identifier: Apache-2.0

// Package shootstate keeps ShootStates: the state that a new seed needs to take over a shoot.
package shootstate

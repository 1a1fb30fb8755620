// SPDX-License-Identifier: Apache-2.0

// Package shootstate keeps ShootStates: what a new seed needs to take a shoot over.
package shootstate

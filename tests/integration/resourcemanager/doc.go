// SPDX-License-Identifier: Apache-2.0

// Package resourcemanager tests the resource manager against real API servers: one stands for the seed, another one for a shoot.
package resourcemanager

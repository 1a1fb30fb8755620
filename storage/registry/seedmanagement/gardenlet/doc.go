// SPDX-License-Identifier: Apache-2.0

// Package gardenlet keeps Gardenlets: how the gardenlets of seeds that are not shoots are deployed.
package gardenlet

// SPDX-License-Identifier: Apache-2.0

// Package lifecycle notices that a gardenlet stopped sending heartbeats (GCM-SEEDLIFE-1 to GCM-SEEDLIFE-5). If the lease of a
// Seed is not renewed in time, the condition GardenletReady of the Seed becomes Unknown. If it stays so, the conditions of the
// Shoots on that Seed become Unknown too, because nobody reports them any more.
package lifecycle

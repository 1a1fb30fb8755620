// SPDX-License-Identifier: Apache-2.0

// Package lifecycle notices that a gardenlet fell silent (GCM-SEEDLIFE-1 to GCM-SEEDLIFE-5). When the lease of a Seed is not
// renewed in time its condition GardenletReady becomes Unknown, and when it stays so the conditions of the Shoots that it
// runs do too, because nobody reports on them any more.
package lifecycle

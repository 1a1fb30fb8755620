// SPDX-License-Identifier: Apache-2.0

// Package namespace creates the namespace of every Seed in the garden and keeps copies of the garden's secrets in it
// (GCM-SEED-1 to GCM-SEED-3), so that a gardenlet can read them without access to the namespace garden.
package namespace

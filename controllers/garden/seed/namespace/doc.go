// SPDX-License-Identifier: Apache-2.0

// Package namespace gives every Seed its namespace in the garden, and keeps copies of the garden's secrets in it
// (GCM-SEED-1 to GCM-SEED-3), so that a gardenlet can read what concerns it without seeing the namespace garden.
package namespace

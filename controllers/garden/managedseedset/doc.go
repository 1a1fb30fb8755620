// SPDX-License-Identifier: Apache-2.0

// Package managedseedset keeps as many managed seeds as a ManagedSeedSet asks for, each on a Shoot of its own (GCM-MSS-1 to
// GCM-MSS-12). A replica is a Shoot, the ManagedSeed that makes it a seed, and that Seed, all of one name.
//
// A pass finds the replicas (observe), decides on at most one step (Decide, which is pure) and takes it. The status, which
// names the one replica that is pending, is always written before the step: after a crash in between, the next pass finds
// the replica by that name and takes the same step again, and each step may be repeated.
package managedseedset

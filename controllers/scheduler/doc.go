// SPDX-License-Identifier: Apache-2.0

// Package scheduler gives every Shoot that has no seed the Seed that suits it best. The choice is a pure function of
// the Shoot, its CloudProfile, all Seeds and all Shoots; the controller around it reads, binds through shoots/binding,
// and explains in an event and the last operation why no Seed fits.
//
// Any client with the right to update shoots/binding may do the same work: a Shoot that names another scheduler is left
// alone (SCHED-PROC-4).
package scheduler

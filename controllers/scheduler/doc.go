// SPDX-License-Identifier: Apache-2.0

// Package scheduler binds every Shoot without a seed to the Seed that fits best. The choice is a pure function of the Shoot, its
// CloudProfile, all Seeds and the number of Shoots on each. The controller around it knows Seeds and numbers from watches (package
// picture), binds the Shoot through shoots/binding, and reports in an event and in the last operation why no Seed fits.
//
// Any client that may update shoots/binding can do the same: a Shoot that names another scheduler is left alone
// (SCHED-PROC-4).
package scheduler

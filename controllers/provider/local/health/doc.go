// SPDX-License-Identifier: Apache-2.0

// Package health checks what an extension has made, every 30 seconds for each object, and reports it as conditions of the object. The
// gardenlet takes them into account for the conditions of the shoot (EXT-HEALTH-1).
//
// Several checks may count for one condition: an error counts most, then a failure, then progress. Objects in deletion or migration are
// not checked, and those of a sleeping shoot are healthy, because what does not run cannot be ill.
package health

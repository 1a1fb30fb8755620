// SPDX-License-Identifier: Apache-2.0

// Package year runs a garden and its gardenlets through a year of certificates within minutes. It has a process of its own, because the
// wall clock of that is set forward day by day.
package year

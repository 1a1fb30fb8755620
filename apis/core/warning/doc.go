// SPDX-License-Identifier: Apache-2.0

// Package warning says what is worth a word about an object of core.gardener.cloud that is accepted all the same: a
// field that is on its way out, credentials that have become old. It is pure: the time and all objects are handed in.
package warning

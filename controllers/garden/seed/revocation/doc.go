// SPDX-License-Identifier: Apache-2.0

// Package revocation marks the shoots of a seed that is shut out of the garden: their constraint SeedTrusted is False while it is, and
// they have none otherwise. What shuts the seed out is the API server; this controller changes nothing but that constraint.
package revocation

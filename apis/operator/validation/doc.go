// SPDX-License-Identifier: Apache-2.0

// Package validation holds the checks on a Garden alone. A section that is missing altogether is accepted, for Gardens from
// before the section existed, because the garden has the values itself; a section that is given must be valid.
package validation

// SPDX-License-Identifier: Apache-2.0

// Package validation checks objects of core.gardener.cloud on their own: required fields, allowed values, what may
// change. It is pure: nothing here asks the garden. Checks against other objects are admission's.
package validation

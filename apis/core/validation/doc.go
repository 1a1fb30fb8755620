// SPDX-License-Identifier: Apache-2.0

// Package validation checks objects of core.gardener.cloud on their own: required fields, allowed values, what may change.
// It does not query the garden; checks against other objects are done by admission plugins.
package validation

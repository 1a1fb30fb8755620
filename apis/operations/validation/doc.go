// SPDX-License-Identifier: Apache-2.0

// Package validation holds the checks on single objects of operations.gardener.cloud. They are pure; what needs other
// objects is checked in admission.
package validation

// SPDX-License-Identifier: Apache-2.0

// Package infrastructure prepares the namespace of a shoot for machines: the rule that lets them talk, a Service that gives them names in the
// seed, and an empty hosts file for the records to come.
package infrastructure

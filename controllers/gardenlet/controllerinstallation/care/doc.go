// SPDX-License-Identifier: Apache-2.0

// Package care watches over installed extensions and reports what it sees as the conditions Installed, Healthy and
// Progressing of their ControllerInstallations. It looks at the objects themselves: what is in the inventory must be in
// the seed, workloads must run, and in their newest form.
package care

// SPDX-License-Identifier: Apache-2.0

// Package install makes a role a service of this machine: its program, its user, its unit and its configuration. What is there already is
// left alone, and a configuration is never overwritten.
package install

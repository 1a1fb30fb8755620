// SPDX-License-Identifier: Apache-2.0

// Package osc renders the OperatingSystemConfig of a worker pool: the files and units that turn a machine into a node of the
// shoot. The extension of the operating system makes user data of it.
package osc

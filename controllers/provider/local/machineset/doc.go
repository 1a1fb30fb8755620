// SPDX-License-Identifier: Apache-2.0

// Package machineset keeps as many Machines as a MachineSet wants, and replaces those that fail and are not kept. It has nothing to do with what a machine
// is: package machines gives Machines their pods.
//
// What the template of a set says about nodes and timeouts reaches the Machines that exist, without new ones.
package machineset

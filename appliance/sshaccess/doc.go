// SPDX-License-Identifier: Apache-2.0

// Package sshaccess opens a way to a node of a shoot: it makes a Bastion for a key of its own, waits until its host is there, and writes
// a configuration for the SSH client of the system, which then does what a user wants. The Bastion is kept alive as long as the way is in
// use, and deleted when it is closed.
//
// What others report, such as the address of the host or of a node, is checked before it becomes a part of the configuration.
package sshaccess

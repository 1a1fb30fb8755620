// SPDX-License-Identifier: Apache-2.0

// Package process keeps long-running programs that outlive the command which started them: each has a
// log file and a record of its process id together with the moment it started, so that a process of
// somebody else that was later given the same id is never signalled.
package process

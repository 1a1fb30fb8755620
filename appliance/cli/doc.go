// SPDX-License-Identifier: Apache-2.0

// Package cli is the command tree of the terrarium binary, with one file for each command.
//
// A command is a private options struct with three methods, which its RunE calls in this order: complete sets defaults,
// validate returns usage errors, run executes the command. Results are written to the standard output, messages for people to
// the standard error stream.
//
// Main is the only entry point. It prints errors and converts them to an exit status: 0 for success, 2 for usage errors, 1 for
// other errors.
package cli

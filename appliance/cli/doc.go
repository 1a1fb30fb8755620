// SPDX-License-Identifier: Apache-2.0

// Package cli is the command tree of the terrarium binary, one file a command.
//
// A command is a private options struct with three methods that its RunE calls in turn: complete fills what was left
// out, validate returns what is wrong as usage errors before anything happens, run acts. What a command prints for use
// by others goes to the standard output; what it tells people goes to the standard error stream.
//
// Main is the only way in. It turns errors into text and into an exit status: 0 for success, 2 for a command line that
// cannot be right, 1 for everything else.
package cli

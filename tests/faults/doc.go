// SPDX-License-Identifier: Apache-2.0

// Package faults writes to a garden from a thousand clients at once, kills it meanwhile, and counts: what was acknowledged
// is there, and nobody sees an error that the API does not promise. It also kills a garden in the middle of what its controllers do,
// and compares the end with that of a garden which is left alone. And it loses the machine of a garden, with all that is on it. The server is a process of its own.
package faults

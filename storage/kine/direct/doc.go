// SPDX-License-Identifier: Apache-2.0

// Package direct connects clients of the etcd API with a store in the same process by calling its methods. A connection in memory
// costs more than what most requests ask for: each of them is written, framed, and read again on both sides, and wakes six goroutines.
//
// A client sees the same answers and errors as over a connection, with two exceptions: what it gets shares its bytes with the store
// and must not be changed, and nothing is tried again, as nothing can be lost on the way.
package direct

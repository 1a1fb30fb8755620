// SPDX-License-Identifier: Apache-2.0

// Package etcdwatch serves the watches of the etcd API from a log.
//
// It takes the place of Kine's own server of watches, which may tell a watch a revision before it has sent the changes
// up to it: one goroutine here sends everything that goes out on a stream, in order, and what it says about progress
// comes from the same look at the log as the changes that it has sent before.
package etcdwatch

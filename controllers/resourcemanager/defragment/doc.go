// SPDX-License-Identifier: Apache-2.0

// Package defragment returns the space of deleted and compacted entries of the etcds of shoots to their volumes. An etcd says in annotations
// of its StatefulSet when this is done and with which credentials. Its members are reached by the addresses of their pods, one after the
// other, while all of them are healthy.
//
// Nothing is remembered: a member that has little to return is left alone, so that a process that starts in the middle goes on where another
// one ended.
package defragment

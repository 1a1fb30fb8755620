// SPDX-License-Identifier: Apache-2.0

// Package store compares the garden's store with Kine's own log and with a real etcd, in one run and on the same disk, as
// clients of the etcd API see them. Run it by make bench-store.
package store

// SPDX-License-Identifier: Apache-2.0

// Package etcd renders an etcd of a shoot: one member with a volume of its own, TLS for clients and peers. A control plane has
// two, so that a flood of events cannot fill the store of everything else.
package etcd

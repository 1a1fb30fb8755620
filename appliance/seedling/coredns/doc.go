// SPDX-License-Identifier: Apache-2.0

// Package coredns is CoreDNS with the few plugins that a cluster needs, built from its Go module. Its main package is not used,
// because it registers flags with the process, which would appear in other programs of the same binary. Its list of all
// plugins is not used, because it depends on the clients of three clouds.
package coredns

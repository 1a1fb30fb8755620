// SPDX-License-Identifier: Apache-2.0

// Package coredns is CoreDNS with the few plugins that a cluster needs, built from its own Go module. Its main package and
// its list of all plugins are not used: the first registers flags with the process, where other programs of the same binary
// would show them as theirs; the second brings the clients of three clouds.
package coredns

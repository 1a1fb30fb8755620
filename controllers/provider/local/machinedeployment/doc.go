// SPDX-License-Identifier: Apache-2.0

// Package machinedeployment maintains sets of identical machines: the pods of the seed that are the worker machines of local shoots. The
// worker actor writes the desired state of a set into a Secret, one for each pool and zone. The controller of this package creates and
// deletes pods accordingly, and also replaces machines that fail.
//
// A machine is never changed. When the hash of the set changes, machines with the old hash are replaced, with at most MaxSurge
// additional machines and at most MaxUnavailable missing ready machines at any time.
package machinedeployment

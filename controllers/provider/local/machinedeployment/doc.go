// SPDX-License-Identifier: Apache-2.0

// Package machinedeployment keeps sets of like machines: the pods of the seed that are the worker machines of local shoots. What a set
// should be is written by the worker actor into a Secret, one for each pool and zone; the controller of this package creates and deletes pods
// until it is so, at any time: a machine that died is replaced although nobody asked.
//
// A machine is never changed. When the set's hash changes, machines with the old one are replaced, at most MaxSurge more than wanted
// and at most MaxUnavailable fewer ready ones at any time.
package machinedeployment

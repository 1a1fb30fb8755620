// SPDX-License-Identifier: Apache-2.0

// Package autoscaler is the cluster autoscaler of shoots with local machines. A pod that the scheduler can place nowhere, and that would
// fit a fresh node of a pool, brings a machine; a machine whose pods fit elsewhere goes after a while. It only changes the number of
// machines that MachineDeployments want, and marks the Machines that are to go: package machineset deletes these, and package machines
// drains them.
//
// A pass reads the shoot and its machines, decides with pure functions, and acts at most once in each direction. What it remembers from
// pass to pass (since when a node is not needed, which pool failed) only ever delays it: after a restart it begins anew.
//
// Its flags have the names of those of the upstream cluster autoscaler, and so have the ConfigMaps, annotations, taints and events that
// users know from there. A pod is compared with a node by requests, taints, node selector and required node affinity, host ports,
// required affinity between pods, and constraints of topology spread that forbid. Volumes, preferences and preemption do not count.
package autoscaler

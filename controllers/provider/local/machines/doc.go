// SPDX-License-Identifier: Apache-2.0

// Package machines gives every Machine of a local shoot its pod, and says in the status of the Machine what becomes of it. A machine is
// never changed: one that does not join in time, is unhealthy for too long, or is lost, fails, and its MachineSet replaces it. One that is
// kept instead (see package preservation) is drained, and its node takes no pods until it is healthy again.
//
// A Machine that is deleted is drained first. Its node takes no new pods, and those that it has are evicted, so that
// PodDisruptionBudgets of the shoot are honored. After the drain timeout the machine goes nevertheless.
//
// The pods of machines may be in another cluster than the Machines (Reconciler.Cloud), so nothing owns them: a pod is deleted because its
// Machine is, and never by a garbage collector.
package machines

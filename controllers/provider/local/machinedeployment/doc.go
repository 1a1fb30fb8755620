// SPDX-License-Identifier: Apache-2.0

// Package machinedeployment keeps one MachineSet for the class that a MachineDeployment wants, and replaces the machines of its other
// sets, with at most maxSurge additional machines and at most maxUnavailable missing ready machines at any time. Only another class makes
// new machines; whatever else the template says reaches the machines that exist.
package machinedeployment

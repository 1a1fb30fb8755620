// SPDX-License-Identifier: Apache-2.0

// Package worker turns the pools of Workers into machine deployments, one for each pool and zone, and waits until their machines are
// ready. Package machinedeployment creates the machines.
package worker

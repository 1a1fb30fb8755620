// SPDX-License-Identifier: Apache-2.0

// Package worker turns the pools of Workers into machine deployments, one for each pool and zone, and waits until their machines are
// as wanted. The machines themselves are made by package machinedeployment.
package worker

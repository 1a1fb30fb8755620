// SPDX-License-Identifier: Apache-2.0

// Package shoot keeps Shoots, the clusters of users, with their subresources: status, binding (the seed that runs the
// control plane), adminkubeconfig and viewerkubeconfig (short-lived credentials).
package shoot

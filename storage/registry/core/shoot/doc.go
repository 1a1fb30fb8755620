// SPDX-License-Identifier: Apache-2.0

// Package shoot keeps Shoots, the clusters of users, with their subresources: status, binding (which seed runs the
// control plane, API-BIND), adminkubeconfig and viewerkubeconfig (credentials for a limited time, API-KUBE).
package shoot

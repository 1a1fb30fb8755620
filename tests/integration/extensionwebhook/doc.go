// SPDX-License-Identifier: Apache-2.0

// Package extensionwebhook tests the webhooks of extensions with real API servers of Kubernetes: one is the seed, which serves the
// Deployments of control planes, another one is a shoot.
package extensionwebhook

// SPDX-License-Identifier: Apache-2.0

// Package controlplane deploys the provider's part of a shoot's control plane: the cloud controller manager, which looks after the nodes.
package controlplane

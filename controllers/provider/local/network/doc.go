// SPDX-License-Identifier: Apache-2.0

// Package network deploys the pod network of local shoots into the shoot: the network agent on every node.
package network

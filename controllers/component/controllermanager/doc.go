// SPDX-License-Identifier: Apache-2.0

// Package controllermanager renders the kube-controller-manager of a shoot.
package controllermanager

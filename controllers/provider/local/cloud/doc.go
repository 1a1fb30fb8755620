// SPDX-License-Identifier: Apache-2.0

// Package cloud finds where the machines of a shoot run: in the seed itself, or in another cluster, whose kubeconfig is in the provider
// secret of the shoot.
//
// Such a kubeconfig, and the server behind it, belong to a member of a project, who may be hostile. A kubeconfig that would make its reader
// do more than connect is refused, and so are addresses that only the seed reaches. What the server answers is limited in time and size.
//
// In another cluster the machines of a shoot have a namespace, which is claimed with the UID of the shoot: a namespace of somebody else is
// never taken over, and never deleted. The place of the machines does not change as long as the shoot has them.
package cloud

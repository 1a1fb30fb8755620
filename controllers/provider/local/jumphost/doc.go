// SPDX-License-Identifier: Apache-2.0

// Package jumphost is the SSH server of a bastion of a local shoot. It forwards connections to port 22 of machines and gives nothing
// else: no shell, no files, and no other ports. Clients use it as a jump host (ssh -J).
//
// An address that is not let in is disconnected before the server has sent anything, so it cannot even begin a handshake. All others
// need a key of the bastion; there are no passwords. Network policies say the same once more for the pod of the server.
package jumphost

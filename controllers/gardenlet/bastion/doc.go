// SPDX-License-Identifier: Apache-2.0

// Package bastion has extensions make the hosts of the Bastions of a seed. For each Bastion there is an object of the extension
// contract with the same name in the namespace of the control plane; what its extension reports becomes the condition and the address of
// the Bastion. A Bastion is held by a finalizer until its host is gone.
package bastion

// SPDX-License-Identifier: Apache-2.0

// Package bastion makes the hosts of Bastions of type local: a pod beside the machines with an SSH server, package jumphost, which leads
// to port 22 of machines of the shoot. The pod accepts only the networks in the spec and only the keys in the user data, and a network
// policy confines it in the same way. Its address in the seed is the address of the bastion, as those of the machines are.
//
// The user data is a script that makes a user on a host. This host has no users and gives no shell, so the script is not run: the lines
// in it that are public keys are taken from it.
package bastion

// SPDX-License-Identifier: Apache-2.0

// Package machinepod renders the worker machines of local shoots, which are pods, and what these are made from: the provider's part of a
// MachineClass, and the user data of one machine.
package machinepod

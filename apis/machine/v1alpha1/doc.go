// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of the API group machine.sapcloud.io: the machines of shoots as objects of their seed. Extensions
// write MachineClasses and MachineDeployments; the machine controller of their provider makes MachineSets, Machines and the machines
// themselves. The names and fields are those of the machine controller manager, as far as something here writes or reads them. The
// kinds are served from custom resource definitions that are generated from this package.
//
// +k8s:deepcopy-gen=package
// +groupName=machine.sapcloud.io
package v1alpha1

// SPDX-License-Identifier: Apache-2.0

// Package controllerinstallation brings extensions to the seed: it renders the Helm chart of a ControllerDeployment with
// the values of the deployment and what the seed tells about itself, and applies the objects.
//
// What belongs to an installation is remembered in an inventory of package deploy in the namespace garden of the seed,
// so objects that leave the chart leave the seed, and all of them go with the installation. An inventory takes the
// place of the ManagedResource that other gardenlets write here; that kind comes with the resource manager.
//
// The conditions Valid and Installed tell users what became of it. Package care watches over what was installed,
// package required over whether it is still needed.
package controllerinstallation

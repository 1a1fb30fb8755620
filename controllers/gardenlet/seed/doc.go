// SPDX-License-Identifier: Apache-2.0

// Package seed prepares one seed for shoots and reports on it: custom resource definitions of the extension contract,
// the namespace garden, the identity of the cluster, and the status of the Seed in the garden.
//
// A pass that has something new to do shows its progress as the Seed's last operation; the periodic ones only correct
// what others changed, and write nothing unless they find a difference. A Seed in deletion is kept until no Shoot and no
// ControllerInstallation needs it.
package seed

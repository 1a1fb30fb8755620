// SPDX-License-Identifier: Apache-2.0

// Package kind has the names of the kinds of the extension contract, as registrations write them in spec.resources[].kind.
// Everything else about a kind is in the table of package extensions. The names are in a package of their own because
// packages that the table depends on need them too.
package kind

// The kinds of the extension contract.
const (
	BackupBucket            = "BackupBucket"
	BackupEntry             = "BackupEntry"
	Bastion                 = "Bastion"
	ContainerRuntime        = "ContainerRuntime"
	ControlPlane            = "ControlPlane"
	DNSRecord               = "DNSRecord"
	Extension               = "Extension"
	Infrastructure          = "Infrastructure"
	Network                 = "Network"
	OperatingSystemConfig   = "OperatingSystemConfig"
	SelfHostedShootExposure = "SelfHostedShootExposure"
	Worker                  = "Worker"
)

// SPDX-License-Identifier: Apache-2.0

// Package machine holds what runs inside a worker machine of a local shoot: machine-init, the first process of the machine's
// container. It prepares mounts and control groups, starts the machine's own containerd, imports the image archives, runs the user
// data, and keeps the units running until the machine is stopped.
//
// A machine image contains Script at Path, executable, on a root file system with containerd, runc, ctr, nftables, iptables and
// iproute2, the SSH server of OpenSSH, sudo, the kubelet at /usr/local/bin/kubelet and the CNI plugins in /opt/cni/bin.
package machine

import (
	_ "embed" // the script is data of the machine image
)

const (
	// Path is where machine-init is in the machine image; it is the entry point of the image.
	Path = "/usr/local/bin/machine-init"
	// UserDataDir is where the user data Secret is mounted in a machine.
	UserDataDir = "/run/machine/user-data"
	// UserDataKey is the key of the user data in its Secret and the name of the file in UserDataDir.
	UserDataKey = "cloud_config"
	// UnitsDir holds one executable script a unit, named <unit>.sh, written by the user data.
	UnitsDir = "/etc/machine/units"
	// StateDir holds a file <name>.pid for each unit and for containerd, with the number of its process.
	StateDir = "/run/machine"
	// RuntimesDir is where the containerd of a machine looks for the programs of additional container runtimes. The user data puts
	// them there.
	RuntimesDir = "/var/bin/containerruntimes"
	// Runtime is the name of the additional container runtime in the configuration of containerd, and of its program.
	Runtime = "local"
	// ImagesDir is where the folder of image archives is mounted in a machine.
	ImagesDir = "/opt/images"
	// DNSDir is where the ConfigMap with the machine's hosts file is mounted.
	DNSDir = "/run/dns"
	// HostsKey is the key of the hosts file in that ConfigMap and the name of the file in DNSDir.
	HostsKey = "hosts"
	// VolumesDir is where a machine has the folders of the volumes of its shoot, if it has any. All machines of a shoot have the same ones.
	VolumesDir = "/var/lib/machine/volumes"
	// VolumesLabel is on the nodes of machines that have VolumesDir, with the value VolumesHere.
	VolumesLabel = "local.provider.extensions.gardener.cloud/volumes"
	// VolumesHere is the value of VolumesLabel.
	VolumesHere = "true"
	// KubeletHealthPort answers /healthz on every address of a machine once its kubelet runs.
	KubeletHealthPort = 10248
	// BootstrapTokenPlaceholder stands in the user data for a bootstrap token of the shoot.
	BootstrapTokenPlaceholder = "<<BOOTSTRAP_TOKEN>>" //nolint:gosec // a placeholder, not a credential
)

//go:embed machine-init
var script string

// Script returns machine-init, a shell script to be installed with mode 0755.
func Script() string { return script }

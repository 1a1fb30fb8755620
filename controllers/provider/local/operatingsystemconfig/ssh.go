// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig

import (
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

const (
	sshdUnit   = "machine-sshd.service"
	sshdConfig = "/etc/machine/sshd_config"
	// sshdKey is in a folder that survives a restart of the machine, so that it is the same machine to its users afterwards.
	sshdKey = "/var/lib/kubelet/machine/ssh_host_ed25519_key"

	// sshdSettings let the user of the configuration log in with a key, and nobody else.
	sshdSettings = `Port 22
HostKey ` + sshdKey + `
AllowUsers gardener
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
UsePAM no
AuthorizedKeysFile .ssh/authorized_keys
PrintMotd no
Subsystem sftp internal-sftp
`
	sshdService = `[Unit]
Description=SSH server of the machine

[Service]
ExecStartPre=/bin/mkdir -p /run/sshd /var/lib/kubelet/machine
ExecStartPre=/bin/sh -c '[ -s ` + sshdKey + ` ] || ssh-keygen -q -t ed25519 -N "" -f ` + sshdKey + `'
ExecStart=/usr/sbin/sshd -D -e -f ` + sshdConfig + `
`
)

// addSSH adds the SSH server to the configuration of a machine, because there is no systemd that would run the one of the operating
// system. It is the one of the machine image, with settings of its own.
func addSSH(spec *gardenextensionsv1alpha1.OperatingSystemConfigSpec, cluster *engine.Cluster) {
	if !query.SSHAllowed(&cluster.Shoot.Spec) {
		return
	}
	spec.Files = append(spec.Files, gardenextensionsv1alpha1.File{
		Path:    sshdConfig,
		Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: sshdSettings}},
	})
	spec.Units = append(spec.Units, gardenextensionsv1alpha1.Unit{Name: sshdUnit, Content: new(sshdService)})
}

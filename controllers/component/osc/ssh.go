// SPDX-License-Identifier: Apache-2.0

package osc

import (
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/sshuser"
)

const (
	userScript, userUnit     = "/var/lib/gardener-user/run.sh", "gardener-user.service"
	serverScript, serverUnit = "/var/lib/sshd-ensurer/run.sh", "sshd-ensurer.service"

	stopServer = `#!/bin/sh
# Nobody logs in to this machine by SSH.
set -eu
rm -f /home/` + sshuser.Name + `/.ssh/authorized_keys
for server in ssh sshd; do
  if systemctl cat "$server.service" >/dev/null 2>&1; then
    systemctl disable --now "$server.service"
  fi
done
`
	startServer = `#!/bin/sh
# People log in to this machine by SSH.
set -eu
` + sshuser.Start
)

// sshFiles are the scripts that open a machine for its keys, or close it if there are none (GLET-CRED-14).
func sshFiles(v Values) ([]gardenextensionsv1alpha1.File, error) {
	if len(v.SSHKeys) == 0 {
		return []gardenextensionsv1alpha1.File{inline(serverScript, stopServer, 0o755)}, nil
	}
	user, err := sshuser.Script(v.SSHKeys...)
	if err != nil {
		return nil, err
	}
	return []gardenextensionsv1alpha1.File{inline(userScript, user, 0o755), inline(serverScript, startServer, 0o755)}, nil
}

func sshUnits(v Values) []gardenextensionsv1alpha1.Unit {
	server := runOnce(serverUnit, "Opens or closes the SSH server", serverScript)
	if len(v.SSHKeys) == 0 {
		return []gardenextensionsv1alpha1.Unit{server}
	}
	return []gardenextensionsv1alpha1.Unit{runOnce(userUnit, "Makes the user of the shoot's SSH keys", userScript), server}
}

func runOnce(name, what, script string) gardenextensionsv1alpha1.Unit {
	return gardenextensionsv1alpha1.Unit{
		Name: name, Command: new(gardenextensionsv1alpha1.UnitCommandStart), Enable: new(true), FilePaths: []string{script},
		Content: new(`[Unit]
Description=` + what + `

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=` + script + `

[Install]
WantedBy=multi-user.target
`),
	}
}

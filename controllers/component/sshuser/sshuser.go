// SPDX-License-Identifier: Apache-2.0

// Package sshuser renders the script that makes the user `gardener` on a host: machines of a shoot run it with the keys of the shoot,
// bastions with the key of their user.
package sshuser

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Name is the name of the user.
const Name = "gardener"

const script = `#!/bin/sh
# Makes the user %[1]s, who logs in with the keys below only and becomes root without a password.
set -eu

id %[1]s >/dev/null 2>&1 || useradd --create-home --shell /bin/bash %[1]s
# A password that nothing matches. An account that is locked could not be logged in to with a key either.
usermod --password '*' %[1]s

home=$(getent passwd %[1]s | cut -d: -f6)
umask 077
mkdir -p "$home/.ssh"
cat >"$home/.ssh/authorized_keys.new" <<'END'
%[2]s
END
mv "$home/.ssh/authorized_keys.new" "$home/.ssh/authorized_keys"
chown -R %[1]s: "$home/.ssh"

mkdir -p /etc/sudoers.d
echo '%[1]s ALL=(ALL) NOPASSWD:ALL' >/etc/sudoers.d/99-%[1]s-user
chmod 0440 /etc/sudoers.d/99-%[1]s-user
`

// Script makes the user, or changes its keys to those given. Each is a line of an authorized_keys file. Only the keys themselves get
// into the script, in the encoding of SSH, so that nothing in them can be taken for a command.
func Script(keys ...[]byte) (string, error) {
	lines := make([]string, 0, len(keys))
	for _, line := range keys {
		key, _, options, _, err := ssh.ParseAuthorizedKey(line)
		if err != nil {
			return "", fmt.Errorf("read the public SSH key of user %q: %w", Name, err)
		}
		if len(options) > 0 {
			return "", fmt.Errorf("the public SSH key of user %q has options (%s), which a host would not keep to", Name, strings.Join(options, ","))
		}
		lines = append(lines, string(bytes.TrimSpace(ssh.MarshalAuthorizedKey(key))))
	}
	return fmt.Sprintf(script, Name, strings.Join(lines, "\n")), nil
}

// Start is the end of a script that makes a host reachable: it starts the SSH server of the operating system.
const Start = `
for server in ssh sshd; do
  if systemctl cat "$server.service" >/dev/null 2>&1; then
    systemctl enable --now "$server.service"
  fi
done
`

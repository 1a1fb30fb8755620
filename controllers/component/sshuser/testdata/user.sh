#!/bin/sh
# Makes the user gardener, who logs in with the keys below only and becomes root without a password.
set -eu

id gardener >/dev/null 2>&1 || useradd --create-home --shell /bin/bash gardener
# A password that nothing matches. An account that is locked could not be logged in to with a key either.
usermod --password '*' gardener

home=$(getent passwd gardener | cut -d: -f6)
umask 077
mkdir -p "$home/.ssh"
cat >"$home/.ssh/authorized_keys.new" <<'END'
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV0GCoCMBjsCFUFhMmzGmLMzCC5aGAdFCiGLaHO2KIC
END
mv "$home/.ssh/authorized_keys.new" "$home/.ssh/authorized_keys"
chown -R gardener: "$home/.ssh"

mkdir -p /etc/sudoers.d
echo 'gardener ALL=(ALL) NOPASSWD:ALL' >/etc/sudoers.d/99-gardener-user
chmod 0440 /etc/sudoers.d/99-gardener-user

for server in ssh sshd; do
  if systemctl cat "$server.service" >/dev/null 2>&1; then
    systemctl enable --now "$server.service"
  fi
done

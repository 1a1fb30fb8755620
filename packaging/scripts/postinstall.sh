#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# After the installation or an upgrade of the package. dpkg calls it with "configure [OLD VERSION]", rpm with the number of versions.
set -e

upgrade=
case "$1" in
configure) [ -z "$2" ] || upgrade=yes ;;
[2-9]*) upgrade=yes ;;
1) ;;
*) exit 0 ;;
esac

systemd-sysusers terrarium-server.conf terrarium-gardenlet.conf
chgrp terrarium /etc/terrarium/server.yaml
chmod 0640 /etc/terrarium/server.yaml

# Without a running systemd, as in a container or an image, there is nothing to restart.
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
if [ -n "$upgrade" ]; then
  for unit in terrarium-server.service terrarium-gardenlet.service; do
    # A service that cannot start with the new version must not leave the package half installed; its log says why.
    systemctl try-restart "$unit" || echo "terrarium: $unit did not start; see: journalctl -u $unit" >&2
  done
else
  echo "terrarium: to run a garden on this machine: systemctl enable --now terrarium-server"
fi

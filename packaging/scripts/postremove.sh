#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# After the package is removed. Data and configuration are deleted only by "purge", which dpkg knows and rpm does not.
set -e

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
fi
[ "$1" = purge ] || exit 0
rm -rf /var/lib/terrarium /var/lib/terrarium-gardenlet /etc/terrarium
for user in terrarium terrarium-gardenlet; do
  if getent passwd "$user" >/dev/null; then
    userdel "$user" || true
  fi
done

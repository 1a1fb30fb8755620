#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Before the package is removed. dpkg calls it with "remove", rpm with 0; an upgrade leaves the services running.
set -e

case "$1" in
remove | 0) ;;
*) exit 0 ;;
esac
[ -d /run/systemd/system ] || exit 0
systemctl disable --now terrarium-server.service terrarium-gardenlet.service || true

#!/bin/sh
# Makes this machine trust the certificates of its shoot, with the tool of the distribution. A distribution without one keeps its
# certificates in a single file, and programs also read the folder of that file.
set -eu
from=${TRUST_FROM:-/var/lib/ca-certificates-local}
root=${TRUST_ROOT:-}
system=$root/etc/ssl/certs

has() { command -v "$1" >/dev/null 2>&1; }

if has update-ca-trust; then
  anchors=$root/etc/pki/ca-trust/source/anchors update=update-ca-trust
elif has update-ca-certificates && [ -d "$root/etc/pki/trust/anchors" ]; then
  anchors=$root/etc/pki/trust/anchors update=update-ca-certificates
elif has update-ca-certificates; then
  anchors=$root/usr/local/share/ca-certificates update=update-ca-certificates
else
  anchors=$system update=
fi
mkdir -p "$anchors"
for file in "$from"/*.crt; do
  cp "$file" "$anchors/"
  if [ -z "$update" ] && [ -e "$system/ca-certificates.crt" ] && ! grep -qxF "# ${file##*/}" "$system/ca-certificates.crt"; then
    { echo "# ${file##*/}" && cat "$file"; } >>"$system/ca-certificates.crt"
  fi
done
[ -z "$update" ] || "$update"

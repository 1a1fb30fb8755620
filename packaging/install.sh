#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs Terrarium from a release archive in the folder of this script, without a package manager.
#
#   ./install.sh                      check the archive, and install the program into /usr/local/bin
#   ./install.sh server --start       and run "terrarium install server --start"
#   ./install.sh gardenlet …          and run "terrarium install gardenlet …"
#
# Run it again with a newer archive to upgrade. PREFIX (/usr/local) says where to install.
set -eu

prefix=${PREFIX:-/usr/local}
cd "$(dirname "$0")"

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

case ${1:-} in
'' | server | gardenlet) ;;
*) fail "unknown role \"$1\": it is server or gardenlet" ;;
esac
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) fail "there is no release for $(uname -m)" ;;
esac
[ "$(uname -s)" = Linux ] || fail "there is no release for $(uname -s)"
[ "$(id -u)" = 0 ] || fail "installing requires root: run it with sudo"

archive=
for found in terrarium-*-linux-$arch.tar.gz; do
  [ -f "$found" ] || fail "no archive terrarium-*-linux-$arch.tar.gz in $PWD"
  [ -z "$archive" ] || fail "several archives in $PWD: leave only the one to install"
  archive=$found
done

[ -f SHA256SUMS ] || fail "SHA256SUMS is missing: the archive cannot be checked"
line=$(grep -F "  $archive" SHA256SUMS || true)
[ -n "$line" ] || fail "SHA256SUMS does not name $archive"
printf '%s\n' "$line" | sha256sum --check --quiet --status - ||
  fail "$archive does not have the checksum in SHA256SUMS: it is damaged, or not the one that was released"

# Programs in /tmp cannot run everywhere.
mkdir -p "$prefix/bin"
work=$(mktemp -d "$prefix/.terrarium-XXXXXX")
trap 'rm -rf "$work"' EXIT
tar --extract --gzip --no-same-owner --file "$archive" --directory "$work" --strip-components 1

mkdir -p "$prefix/share/man/man1" "$prefix/share/bash-completion/completions"
cp "$work"/man/*.1.gz "$prefix/share/man/man1/"
cp "$work/completions/terrarium.bash" "$prefix/share/bash-completion/completions/terrarium"

if [ $# -gt 0 ]; then
  # It installs itself, and so knows whether it replaces another version.
  "$work/terrarium" install "$@" --prefix "$prefix"
else
  install -m 0755 "$work/terrarium" "$prefix/bin/.terrarium.new"
  mv "$prefix/bin/.terrarium.new" "$prefix/bin/terrarium"
  echo "installed $prefix/bin/terrarium"
fi

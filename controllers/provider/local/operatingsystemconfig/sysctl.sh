#!/bin/sh
# Applies the kernel settings in the given files, or those in /etc/sysctl.d, as systemd-sysctl does. The machine shares its kernel with the
# seed, so it may only change what it has for itself: its network and what its processes have in common. The rest is named and left.
root=${SYSCTL_ROOT:-/proc/sys}
[ "$#" -gt 0 ] || set -- /etc/sysctl.d/*.conf

note() { echo "sysctl: $*" >&2; }

apply() {
  case $1 in
  '' | *[!A-Za-z0-9._/*-]*) note "$1 is not the name of a setting" && return ;;
  esac
  # The character that comes first separates the parts of a name, and the other one stands for itself.
  path=$1
  case ${path%%/*} in
  *.*) path=$(printf %s "$path" | tr ./ /.) ;;
  esac
  case /$path/ in
  */../*) note "$1 is not the name of a setting" && return ;;
  esac
  case $path in
  net/* | kernel/shm* | kernel/msg* | kernel/sem | fs/mqueue/*) ;;
  *) note "$1 is not set: this machine shares the setting with its seed" && return ;;
  esac
  for file in "$root"/$path; do
    if [ ! -e "$file" ]; then
      note "$1 is not set: this machine has no such setting of its own"
    elif ! printf '%s\n' "$2" >"$file"; then
      note "$1 is not set: the kernel refuses this value"
    fi
  done
}

for conf in "$@"; do
  [ -r "$conf" ] || continue
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
    '#'* | ';'*) continue ;;
    *=*) ;;
    *) continue ;;
    esac
    key=$(printf %s "${line%%=*}" | tr -d ' \t')
    value=${line#*=}
    apply "${key#-}" "${value# }" 2>&1
  done <"$conf"
done
exit 0

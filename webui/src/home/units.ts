// SPDX-License-Identifier: Apache-2.0

/** A number of bytes as people write it. */
export function bytes(n: number | undefined): string {
  if (n === undefined) return '–'
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = n
  let at = 0
  while (Math.abs(value) >= 1024 && at < names.length - 1) {
    value /= 1024
    at++
  }
  return `${at > 0 && Math.abs(value) < 100 ? value.toFixed(1) : Math.round(value)} ${names[at]}`
}

/** A share as a percentage. */
export function percent(share: number | undefined): string {
  return share === undefined ? '–' : `${share < 0.1 ? (share * 100).toFixed(1) : Math.round(share * 100)}%`
}

// SPDX-License-Identifier: Apache-2.0

const sizes: Record<string, number> = {
  m: 0.001,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
}

/** Reads a quantity of the API, such as 500m or 4Gi. */
export function quantity(text: string): number {
  const found = /^([\d.]+)([A-Za-z]*)$/.exec(text)
  return found ? Number(found[1]) * (sizes[found[2] ?? ''] ?? 1) : 0
}

// SPDX-License-Identifier: Apache-2.0

import { onScopeDispose, ref, type Ref } from 'vue'

const now = ref(Date.now())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The present time, which moves every second while a component looks at it. */
export function useNow(): Ref<number> {
  if (users++ === 0) {
    now.value = Date.now()
    timer = setInterval(() => (now.value = Date.now()), 1000)
  }
  onScopeDispose(() => {
    if (--users === 0) clearInterval(timer)
  })
  return now
}

const units: [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
]

/** A span of time in at most two units, such as 3d 4h. */
export function span(milliseconds: number): string {
  let rest = Math.max(0, milliseconds)
  if (rest < 1000) return rest < 1 ? '0s' : rest < 950 ? `${Math.max(1, Math.round(rest))}ms` : '1s'
  if (rest < 10_000) return `${Number((rest / 1000).toFixed(1))}s`
  const parts: string[] = []
  for (const [size, name] of units) {
    const count = Math.floor(rest / size)
    if (count === 0 && parts.length === 0) continue
    if (count > 0) parts.push(count + name)
    rest -= count * size
    if (parts.length === 2 || count === 0) break
    // Of a long span the smaller unit says nothing.
    if (count >= 10) break
  }
  return parts.join(' ')
}

/** A span in one unit, for tables. */
export function shortSpan(milliseconds: number): string {
  const ms = Math.max(0, milliseconds)
  for (const [size, name] of units) {
    if (ms >= size) return Math.floor(ms / size) + name
  }
  return '0s'
}

const minutes = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const seconds = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const stamp = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
})
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

export const format = {
  dateTime: (at: string | number | Date) => minutes.format(new Date(at)),
  precise: (at: string | number | Date) => seconds.format(new Date(at)),
  /** With seconds and without the year, for tables. */
  stamp: (at: string | number | Date) => stamp.format(new Date(at)),
  clock: (at: string | number | Date) => clock.format(new Date(at)),
  day: (at: string | number | Date) => day.format(new Date(at)),
}

/** Reads a duration as Go writes it, such as 1m2.5s, in milliseconds. */
export function parseDuration(text: string | undefined): number {
  if (!text) return 0
  const sizes: Record<string, number> = {
    h: 3_600_000,
    m: 60_000,
    s: 1_000,
    ms: 1,
    us: 0.001,
    µs: 0.001,
    μs: 0.001,
    ns: 0.000001,
  }
  let total = 0
  for (const [, count, unit] of text.matchAll(/([\d.]+)(h|ms|m|s|us|µs|μs|ns)/g))
    total += Number(count) * (sizes[unit ?? ''] ?? 0)
  return total
}

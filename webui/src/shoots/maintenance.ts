// SPDX-License-Identifier: Apache-2.0

/** A time window as the API writes it, such as 220000+0100, in parts that a form can show. */
export interface Window {
  begin: string
  end: string
  zone: string
}

/** Reads 220000+0100 as 22:00 and +0100. */
export function readWindow(window: { begin: string; end: string } | undefined): Window {
  const begin = /^(\d{2})(\d{2})\d{2}([+-]\d{4})$/.exec(window?.begin ?? '')
  const end = /^(\d{2})(\d{2})\d{2}([+-]\d{4})$/.exec(window?.end ?? '')
  if (!begin || !end) return { begin: '22:00', end: '23:00', zone: '+0000' }
  const zone = begin[3]!
  // Both ends are shown in the zone of the beginning.
  const minutes = Number(end[1]) * 60 + Number(end[2]) - offset(end[3]!) + offset(zone)
  return { begin: `${begin[1]}:${begin[2]}`, end: clock(minutes), zone }
}

export function writeWindow(w: Window): { begin: string; end: string } {
  const one = (time: string) => time.replace(':', '') + '00' + w.zone
  return { begin: one(w.begin), end: one(w.end) }
}

/** How many minutes a window lasts; it may go over midnight. */
export function windowMinutes(w: Window): number {
  const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))
  return (minutes(w.end) - minutes(w.begin) + 1440) % 1440
}

function offset(zone: string): number {
  const sign = zone.startsWith('-') ? -1 : 1
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5)))
}

function clock(minutes: number): string {
  const m = ((minutes % 1440) + 1440) % 1440
  return `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`
}

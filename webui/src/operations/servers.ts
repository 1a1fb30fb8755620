// SPDX-License-Identifier: Apache-2.0

import { format } from '@/design/time'
import type { Tone } from '@/design/tone'
import { g } from '@/text/garden'

/** A server of the garden, and which keys it has. */
export interface KeyHolder {
  address: string
  /** That of its keys. */
  generation: number
  leads: boolean
  /** It was seen in the last seconds. */
  runs: boolean
  /** It has the newest keys. */
  current: boolean
  seen: string
  /** Why it cannot take up the newest keys, or could not take the lead. */
  failure?: string
}

/** A word with its color. */
interface Said {
  tone: Tone
  text: string
}

const c = g.operations.certificates.servers

/** What a server does. */
export function role(s: KeyHolder): Said {
  if (s.leads) return { tone: 'ok', text: c.leads }
  return s.runs ? { tone: 'off', text: c.standsBy } : { tone: 'warn', text: c.offSince(format.dateTime(s.seen)) }
}

/** Which keys it has. A server that runs takes up new ones within seconds; one that is off does when it starts. */
export function keysOf(s: KeyHolder): Said {
  if (s.failure) return { tone: 'bad', text: s.current ? c.newest : c.old }
  if (s.current) return { tone: 'ok', text: c.newest }
  return { tone: s.runs ? 'busy' : 'off', text: c.old }
}

/** The servers, the one that leads first. */
export function ordered(servers: KeyHolder[]): KeyHolder[] {
  return [...servers].sort((a, b) => Number(b.leads) - Number(a.leads) || (a.address < b.address ? -1 : 1))
}

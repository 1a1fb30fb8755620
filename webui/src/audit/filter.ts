// SPDX-License-Identifier: Apache-2.0

/** Fields that select events by a text, which has to be the same. */
export const texts = ['user', 'verb', 'resource', 'namespace', 'name'] as const

/** Spans that end now. */
export const spans = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 }

/** What to search for. Empty fields select all. */
export interface AuditFilter extends Record<(typeof texts)[number], string> {
  outcome: '' | 'succeeded' | 'failed' | 'denied'
  /** One of the spans, or between for the times from and until; empty for any time. */
  time: '' | keyof typeof spans | 'between'
  /** In RFC 3339. */
  from: string
  until: string
}

const outcomes = ['', 'succeeded', 'failed', 'denied']
const times = ['', ...Object.keys(spans), 'between']

/** Reads a filter from the query of an address. What makes no sense counts as not set. */
export function readFilter(query: Record<string, unknown>): AuditFilter {
  const text = (key: string) => (typeof query[key] === 'string' ? query[key] : '')
  const among = (key: string, known: string[]) => (known.includes(text(key)) ? text(key) : '')
  const moment = (key: string) => (Number.isNaN(Date.parse(text(key))) ? '' : text(key))
  return {
    user: text('user'),
    verb: text('verb'),
    resource: text('resource'),
    namespace: text('namespace'),
    name: text('name'),
    outcome: among('outcome', outcomes) as AuditFilter['outcome'],
    time: among('time', times) as AuditFilter['time'],
    from: moment('from'),
    until: moment('until'),
  }
}

/** The parts of the query of an address that say the same. */
export function writeFilter(filter: AuditFilter): Record<string, string> {
  const { from, until, ...rest } = filter
  const all = filter.time === 'between' ? { ...rest, from, until } : rest
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value.trim() !== ''))
}

/** Whether anything is left out. */
export const isSet = (filter: AuditFilter): boolean => Object.keys(writeFilter(filter)).length > 0

/** The query of a request. A page ends before a moment; one that follows begins after one. */
export function requestOf(
  filter: AuditFilter,
  page: { limit: number; since?: string | undefined; until?: string | undefined },
  now: number,
): string {
  const q = new URLSearchParams({ limit: String(page.limit) })
  for (const key of [...texts, 'outcome'] as const) if (filter[key].trim()) q.set(key, filter[key].trim())
  const span = filter.time === '' || filter.time === 'between' ? undefined : spans[filter.time]
  const from = filter.time === 'between' ? filter.from : span === undefined ? '' : new Date(now - span).toISOString()
  const since = page.since ?? from
  const until = page.until ?? (filter.time === 'between' ? filter.until : '')
  if (since) q.set('since', since)
  if (until) q.set('until', until)
  return q.toString()
}

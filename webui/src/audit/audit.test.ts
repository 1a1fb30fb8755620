// SPDX-License-Identifier: Apache-2.0

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, ref, type EffectScope } from 'vue'

import { isSet, readFilter, requestOf, writeFilter } from './filter'
import { merged, pageSize, useTrail, type Trail } from './trail'
import { claimedOf, isSearch, keyOf, objectOf, outcomeOf, sourceOf, subjectOf, type AuditEvent } from './types'

const event = (id: string, at: string, more: Partial<AuditEvent> = {}) =>
  ({ auditID: id, stage: 'ResponseComplete', stageTimestamp: at, requestURI: '/x?y=z', ...more }) as AuditEvent
const now = Date.parse('2026-11-22T12:00:00Z')

describe('the filter', () => {
  it('is the same after a way through the address', () => {
    const query = { user: 'alice', outcome: 'denied', time: 'between', from: '2026-11-22T10:00:00Z' }
    expect(writeFilter(readFilter(query))).toEqual(query)
    expect(isSet(readFilter({}))).toBe(false)
  })
  it('ignores what makes no sense, and what belongs to others', () =>
    expect(
      writeFilter(readFilter({ outcome: 'bogus', time: '3y', from: 'never', event: 'a', user: ['a', 'b'] })),
    ).toEqual({}))
  it('asks for a span that ends now', () =>
    expect(requestOf(readFilter({ time: '1h', verb: ' delete ' }), { limit: 5 }, now)).toBe(
      'limit=5&verb=delete&since=2026-11-22T11%3A00%3A00.000Z',
    ))
  it('asks for pages within the times', () => {
    const filter = readFilter({ time: 'between', from: '2026-11-22T10:00:00Z', until: '2026-11-22T11:00:00Z' })
    expect(new URLSearchParams(requestOf(filter, { limit: 5, until: '2026-11-22T10:30:00Z' }, now)).get('until')).toBe(
      '2026-11-22T10:30:00Z',
    )
  })
})

describe('an event', () => {
  it.each([
    [200, 'succeeded'],
    [401, 'denied'],
    [403, 'denied'],
    [409, 'failed'],
    [undefined, 'succeeded'],
  ])('with status %s has %s', (code, want) =>
    expect(outcomeOf(event('a', '', code ? { responseStatus: { code } } : {}))).toBe(want),
  )
  it('comes from where its connection does, not from where its client says', () => {
    const claims = event('a', '', { sourceIPs: ['198.51.100.7', '203.0.113.9'] })
    expect(sourceOf(claims)).toBe('203.0.113.9')
    expect(claimedOf(claims)).toEqual(['198.51.100.7'])
    expect(sourceOf(event('a', ''))).toBeUndefined()
  })
  it('tells searches of the log apart', () => {
    expect(isSearch(event('a', '', { requestURI: '/appliance/audit?limit=200' }))).toBe(true)
    expect(isSearch(event('a', '', { requestURI: '/appliance/auditors' }))).toBe(false)
  })
  it('names what it is about', () => {
    const of = event('a', '', { objectRef: { resource: 'shoots', subresource: 'status', namespace: 'n', name: 'web' } })
    expect([subjectOf(of), objectOf(of)]).toEqual(['shoots/status', 'n/web'])
    expect([subjectOf(event('a', '')), objectOf(event('a', ''))]).toEqual(['/x', ''])
  })
})

it('puts events in order, without doubles, and knows microseconds', () => {
  const a = event('a', '2026-11-22T12:00:00.1Z')
  const b = event('b', '2026-11-22T12:00:00.100002Z')
  const c = event('c', '2026-11-22T12:00:01Z')
  expect(merged([b, a], [a, c]).map((e) => e.auditID)).toEqual(['c', 'b', 'a'])
  expect(merged([a], [{ ...a, stage: 'ResponseStarted' }]).map(keyOf)).toHaveLength(2)
})

describe('the trail', () => {
  let scope: EffectScope
  let asked: URLSearchParams[]
  let answers: (() => Response)[]
  const answer = (items: AuditEvent[], more = {}) =>
    answers.push(() => new Response(JSON.stringify({ items, ...more })))
  const page = (from: number, n: number) =>
    Array.from({ length: n }, (_, i) =>
      event(`e${from + i}`, new Date(now - (from + i) * 1000).toISOString()),
    ).reverse()
  const start = (filter = ref(readFilter({})), following = ref(false)): Trail =>
    scope.run(() => useTrail(filter, following))!
  beforeEach(() => {
    vi.useFakeTimers({ now })
    scope = effectScope()
    asked = []
    answers = []
    vi.stubGlobal('fetch', (url: string) => {
      asked.push(new URL(url, 'https://x').searchParams)
      return Promise.resolve(answers.shift()!())
    })
  })
  afterEach(() => {
    scope.stop()
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })
  const settle = () => vi.advanceTimersByTimeAsync(0)

  it('shows the newest first, and older ones when asked', async () => {
    answer(page(0, pageSize))
    const trail = start()
    await settle()
    expect([trail.events.value[0]!.auditID, trail.events.value.length, trail.more.value]).toEqual([
      'e0',
      pageSize,
      true,
    ])
    answer(page(pageSize - 1, 3))
    await trail.older()
    expect(asked[1]!.get('until')).toBe(new Date(now - (pageSize - 1) * 1000).toISOString())
    expect([trail.events.value.length, trail.more.value]).toEqual([pageSize + 2, false])
  })
  it('follows, and leaves out what it has', async () => {
    answer(page(0, 2))
    const following = ref(true)
    const trail = start(undefined, following)
    await settle()
    answer([...page(0, 1), event('new', new Date(now + 500).toISOString())])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(asked[1]!.get('since')).toBe(new Date(now - 2_000).toISOString())
    expect(trail.events.value.map((e) => e.auditID)).toEqual(['new', 'e0', 'e1'])
    following.value = false
    await vi.advanceTimersByTimeAsync(10_000)
    expect(asked).toHaveLength(2)
  })
  it('drops the answer to a search that is no longer asked for', async () => {
    const filter = ref(readFilter({}))
    let late: (r: Response) => void = () => {}
    vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => (late = resolve)))
    const trail = start(filter)
    const first = late
    filter.value = readFilter({ user: 'alice' })
    await settle()
    late(new Response(JSON.stringify({ items: [event('alice', '2026-11-22T12:00:00Z')] })))
    await settle()
    first(new Response(JSON.stringify({ items: page(0, 3) })))
    await settle()
    expect(trail.events.value.map((e) => e.auditID)).toEqual(['alice'])
  })
  it('says that there is no log, and what went wrong', async () => {
    answer([], { disabled: true })
    const trail = start()
    await settle()
    expect(trail.disabled.value).toBe(true)
    answers.push(() => new Response('{"message":"no"}', { status: 403 }))
    await trail.again()
    expect(trail.error.value?.kind).toBe('forbidden')
  })
  it('searches again by itself after what passes, and not after a refusal', async () => {
    answers.push(() => {
      throw new TypeError('the network has changed')
    })
    const trail = start()
    await settle()
    expect([trail.error.value?.kind, trail.loaded.value]).toEqual(['unreachable', false])
    answer(page(0, 2))
    await vi.advanceTimersByTimeAsync(5_000)
    expect([trail.error.value, trail.events.value.length]).toEqual([undefined, 2])
    answers.push(() => new Response('{"message":"no"}', { status: 403 }))
    await trail.again()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked).toHaveLength(3)
  })
})

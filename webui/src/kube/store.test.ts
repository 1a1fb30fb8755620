// SPDX-License-Identifier: Apache-2.0

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { RequestError } from './errors'
import { ResourceStore, type Source, type WatchHandlers } from './store'
import type { KubeList, KubeObject, WatchEvent } from './types'

const object = (name: string, version = '1'): KubeObject => ({
  metadata: { name, uid: name, resourceVersion: version, creationTimestamp: '', managedFields: [] },
})

/** A server under the control of a test. */
class Server implements Source<KubeObject> {
  pages: (KubeList<KubeObject> | RequestError)[] = []
  watches: { from: string; on: WatchHandlers<KubeObject>; end: (error?: unknown) => void; signal: AbortSignal }[] = []
  lists = 0
  limits: number[] = []
  refuse: RequestError | undefined

  list({ limit }: { limit: number } = { limit: 0 }): Promise<KubeList<KubeObject>> {
    this.lists++
    this.limits.push(limit)
    const page = this.pages.shift()
    if (!page) throw new Error('no page is left')
    return page instanceof RequestError ? Promise.reject(page) : Promise.resolve(page)
  }
  watch(from: string, on: WatchHandlers<KubeObject>, signal: AbortSignal): Promise<void> {
    if (this.refuse) return Promise.reject(this.refuse)
    on.open()
    return new Promise((resolve, reject) => {
      this.watches.push({ from, on, signal, end: (error) => (error ? reject(error) : resolve()) })
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  get now() {
    return this.watches.at(-1)!
  }
}

const page = (version: string, ...names: string[]): KubeList<KubeObject> => ({
  metadata: { resourceVersion: version },
  items: names.map((n) => object(n)),
})
const names = (store: ResourceStore<KubeObject>) => store.items.value.map((o) => o.metadata.name)
const away = new RequestError('unreachable', 'connection refused')

describe('ResourceStore', () => {
  let server: Server
  let store: ResourceStore<KubeObject>

  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000_000 })
    server = new Server()
    store = new ResourceStore(server, { random: () => 1 })
  })
  afterEach(() => {
    store.stop()
    vi.useRealTimers()
  })
  const settle = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds)
  async function begin(...list: string[]) {
    server.pages.push(page('10', ...list))
    store.start()
    await settle()
  }

  it('shows the first page at once and watches from the version of the list', async () => {
    let second: (p: KubeList<KubeObject>) => void = () => {}
    server.pages.push({ metadata: { resourceVersion: '9', continue: 'more' }, items: [object('a')] })
    const list = server.list.bind(server)
    server.list = () => (server.lists === 0 ? list() : new Promise((resolve) => (second = resolve)))
    store.start()
    await settle()
    expect(names(store)).toEqual(['a'])
    expect([store.loaded.value, store.complete.value]).toEqual([true, false])
    second(page('10', 'b'))
    await settle()
    expect(names(store)).toEqual(['a', 'b'])
    expect(store.complete.value).toBe(true)
    expect(server.now.from).toBe('10')
  })

  it('asks for a small page first, so that something is shown soon', async () => {
    server.pages.push({ metadata: { resourceVersion: '9', continue: 'more' }, items: [object('a')] }, page('10', 'b'))
    store.start()
    await settle()
    expect(server.limits).toEqual([100, 500])
  })

  it('follows events and drops managed fields', async () => {
    await begin('a', 'b')
    server.now.on.take([
      { type: 'ADDED', object: object('c', '11') },
      { type: 'DELETED', object: object('a', '12') },
      { type: 'MODIFIED', object: { ...object('b', '13'), kind: 'changed' } },
    ])
    await settle(100)
    expect(names(store)).toEqual(['b', 'c'])
    expect(store.items.value[0]).toMatchObject({ kind: 'changed' })
    expect(store.items.value[1]!.metadata).not.toHaveProperty('managedFields')
  })

  it('publishes many events together', async () => {
    await begin()
    let published = 0
    const previous = store.items.value
    for (let i = 0; i < 1000; i++) server.now.on.take([{ type: 'ADDED', object: object('x' + i, String(20 + i)) }])
    if (store.items.value !== previous) published++
    await settle(100)
    expect(published).toBe(0)
    expect(store.items.value).toHaveLength(1000)
  })

  it.each([
    ['the watch was faster, and knows a newer one', '9', '10', '10'],
    ['it is the newest one', '12', '11', '12'],
    ['it is another one of the same name', '9', '10', '9', 'again'],
  ])('takes an answer of the server or not: %s', async (_reason, answered, watched, kept, uid = 'a') => {
    await begin('a')
    server.now.on.take([{ type: 'MODIFIED', object: object('a', watched) }])
    await settle(200)
    const answer = object('a', answered)
    store.put({ ...answer, metadata: { ...answer.metadata, uid } })
    await settle(200)
    expect(store.items.value.map((o) => o.metadata.resourceVersion)).toEqual([kept])
  })

  it('watches again from the last bookmark when the stream ends', async () => {
    await begin('a')
    server.now.on.take([{ type: 'BOOKMARK', object: { metadata: { resourceVersion: '40' } } }])
    await settle(5000)
    server.now.end()
    await settle()
    expect(server.watches.map((w) => w.from)).toEqual(['10', '40'])
    expect(server.lists).toBe(1)
    expect(store.staleSince.value).toBeUndefined()
  })

  it('lists again after 410 and forgets what is gone', async () => {
    await begin('a', 'b')
    server.pages.push(page('50', 'b', 'c'))
    expect(() =>
      server.now.on.take([{ type: 'ERROR', object: { kind: 'Status', code: 410 } } as WatchEvent<KubeObject>]),
    ).toThrow()
    server.now.end(new RequestError('expired', 'too old', 410))
    await settle()
    expect(names(store)).toEqual(['b', 'c'])
    expect(server.now.from).toBe('50')
    expect(store.staleSince.value).toBeUndefined()
  })

  it('keeps the objects while the garden is away, says since when, and comes back', async () => {
    await begin('a')
    server.refuse = away
    server.now.end(away)
    await settle()
    expect(names(store)).toEqual(['a'])
    expect(store.staleSince.value).toBe(1_000_000)
    expect(store.error.value).toBeUndefined()
    await settle(30_000)
    expect(store.staleSince.value).toBe(1_000_000)
    server.refuse = undefined
    await settle(30_000)
    expect(store.staleSince.value).toBeUndefined()
    expect(server.now.from).toBe('10')
  })

  it('tries with growing pauses', async () => {
    const pauses: number[] = []
    store = new ResourceStore(server, { random: () => 1, pause: (ms) => (pauses.push(ms), Promise.resolve()) })
    server.pages.push(...Array.from({ length: 7 }, () => away), page('10', 'a'))
    store.start()
    await settle()
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000])
    expect(names(store)).toEqual(['a'])
  })

  it('tries at once when asked to', async () => {
    server.pages.push(away)
    store.start()
    await settle()
    expect(store.error.value?.kind).toBe('unreachable')
    server.pages.push(page('10', 'a'))
    store.retry()
    await settle()
    expect(store.error.value).toBeUndefined()
    expect(names(store)).toEqual(['a'])
  })

  it('shows nothing that may no longer be read', async () => {
    await begin('a')
    const forbidden = new RequestError('forbidden', 'no', 403)
    server.refuse = forbidden
    server.now.end(forbidden)
    await settle()
    expect(names(store)).toEqual([])
    expect(store.error.value?.kind).toBe('forbidden')
  })

  it('ends its watch when it is stopped', async () => {
    await begin('a')
    store.stop()
    await settle()
    expect(server.now.signal.aborted).toBe(true)
    await settle(60_000)
    expect(server.lists).toBe(1)
  })
})

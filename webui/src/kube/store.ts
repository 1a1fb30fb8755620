// SPDX-License-Identifier: Apache-2.0

import { ref, shallowRef, triggerRef, type Ref, type ShallowRef } from 'vue'

import { asRequestError, RequestError } from './errors'
import type { Fields, KubeList, KubeObject, WatchEvent } from './types'

/** Where a store reads from. */
export interface Source<T> {
  list(page: { limit: number; continue?: string | undefined }, signal: AbortSignal): Promise<KubeList<T>>
  watch(resourceVersion: string, on: WatchHandlers<T>, signal: AbortSignal): Promise<void>
}

/** What becomes of a watch. */
export interface WatchHandlers<T> {
  /** The server has accepted the watch. */
  open(): void
  /** Events have come. */
  take(batch: WatchEvent<T>[]): void
}

/** What a store needs of its surroundings. */
export interface StoreOptions<T> {
  /** How many objects a page of a list has. The first one is smaller and shown at once. */
  pageSize?: number
  /** The fields that are needed; without it, all are read. Objects of such a store cannot be written back. */
  fields?: Fields
  /** Drops what no page shows, so that memory stays small. */
  trim?: (object: T) => T
  /** Waits; it is replaced in tests. */
  pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>
  random?: () => number
  now?: () => number
  /** The largest number of objects that are kept; the oldest of the list go first. */
  limit?: number
}

const firstPage = 100
const shortest = 1_000
const longest = 30_000

/**
 * ResourceStore holds a collection of objects and keeps it current: it lists in pages, watches from the version of the list,
 * lists again when the version is too old (410), and tries again with growing pauses when the garden cannot be reached.
 * While it is not current, the objects stay, and staleSince says since when.
 */
export class ResourceStore<T extends KubeObject> {
  /** The objects by namespace and name. */
  readonly items: ShallowRef<T[]> = shallowRef([])
  /** Whether the first list is complete. */
  readonly complete: Ref<boolean> = ref(false)
  /** Whether there is something to show: at least a page of the first list. */
  readonly loaded: Ref<boolean> = ref(false)
  /** Why the list cannot be read. */
  readonly error: ShallowRef<RequestError | undefined> = shallowRef()
  /** Since when the objects may be out of date; undefined while the watch runs. */
  readonly staleSince: Ref<number | undefined> = ref()

  private readonly byKey = new Map<string, T>()
  private abort: AbortController | undefined
  private cut: AbortController | undefined
  private wake: (() => void) | undefined
  private failures = 0
  private version: string | undefined
  private frame: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly source: Source<T>,
    private readonly options: StoreOptions<T> = {},
  ) {}

  /** Starts to read. A store that runs goes on. */
  start(): void {
    if (this.abort) return
    this.abort = new AbortController()
    void this.run(this.abort.signal)
  }

  /** Stops to read; the objects stay. */
  stop(): void {
    this.abort?.abort()
    this.abort = undefined
  }

  /** Tries again at once, if the store is waiting after a failure. */
  retry(): void {
    if (!this.abort) return this.start()
    this.wake?.()
  }

  /**
   * Puts in an object that the server has just returned, so that a page need not wait for the watch. The watch may have been faster, and have
   * brought what came of it: with an older version, the next change from the page would be refused.
   */
  put(object: T): void {
    if (!this.loaded.value) return
    const known = this.byKey.get(keyOf(object))?.metadata
    const { uid, resourceVersion } = object.metadata
    if (known?.uid === uid && Number(known?.resourceVersion) > Number(resourceVersion)) return
    this.byKey.set(keyOf(object), this.trimmed(object))
    this.publish()
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.version ??= await this.listAll(signal)
        await this.watchFrom(this.version, signal)
      } catch (thrown) {
        if (signal.aborted) return
        const error = asRequestError(thrown)
        if (error.kind === 'expired') {
          this.version = undefined
          this.markStale()
          // A server that says so again and again is not asked in a tight loop.
          if (this.failures++ === 0) continue
        } else if (!this.fail(error)) {
          this.version = undefined
        }
        await this.wait(signal)
      }
    }
  }

  /** Lists all pages and returns the version of the list. The first list shows each page as it comes. */
  private async listAll(signal: AbortSignal): Promise<string> {
    const first = !this.complete.value
    const seen = new Set<string>()
    let page: string | undefined
    for (;;) {
      const answer: KubeList<T> = await this.source.list(
        { limit: first && !page ? firstPage : (this.options.pageSize ?? 500), continue: page },
        signal,
      )
      for (const object of answer.items ?? []) {
        seen.add(keyOf(object))
        this.byKey.set(keyOf(object), this.trimmed(object))
      }
      page = answer.metadata.continue
      if (first) this.publish()
      if (!page) {
        for (const key of this.byKey.keys()) if (!seen.has(key)) this.byKey.delete(key)
        this.complete.value = true
        this.current()
        this.publish()
        return answer.metadata.resourceVersion
      }
    }
  }

  /** Ends the watch, which is then begun again: a stream may seem open long after the network is gone. */
  interrupt(): void {
    this.cut?.abort()
  }

  /** Watches until the stream ends. */
  private async watchFrom(version: string, signal: AbortSignal): Promise<void> {
    const began = this.now()
    this.cut = new AbortController()
    await this.source.watch(
      version,
      {
        open: () => this.current(),
        take: (batch) => {
          this.failures = 0
          for (const event of batch) this.version = this.take(event)
          this.soon()
        },
      },
      AbortSignal.any([signal, this.cut.signal]),
    )
    // A stream that ends at once, again and again, must not become a tight loop.
    if (this.now() - began < shortest) await this.pause(shortest, signal)
  }

  private take(event: WatchEvent<T>): string {
    if (event.type === 'ERROR') {
      const expired = event.object.code === 410
      throw new RequestError(expired ? 'expired' : 'broken', event.object.message ?? 'watch failed', event.object.code)
    }
    if (event.type === 'DELETED') this.byKey.delete(keyOf(event.object))
    else if (event.type !== 'BOOKMARK') this.byKey.set(keyOf(event.object), this.trimmed(event.object))
    return event.object.metadata.resourceVersion
  }

  /** Notes a failure. It returns whether the objects may still be shown and watched from where they are. */
  private fail(error: RequestError): boolean {
    this.failures++
    this.markStale()
    const lasting = !error.passing
    if (lasting || !this.loaded.value) this.error.value = error
    if (error.kind === 'forbidden' || error.kind === 'missing') {
      this.byKey.clear()
      this.publish()
      this.loaded.value = false
      this.complete.value = false
    }
    return !lasting
  }

  private markStale(): void {
    if (this.loaded.value) this.staleSince.value ??= this.now()
  }

  private current(): void {
    this.error.value = undefined
    this.staleSince.value = undefined
  }

  private async wait(signal: AbortSignal): Promise<void> {
    const longestNow = Math.min(longest, shortest * 2 ** Math.min(this.failures - 1, 10))
    const random = this.options.random ?? Math.random
    const woken = new Promise<void>((resolve) => (this.wake = resolve))
    await Promise.race([this.pause(longestNow * (0.5 + random() / 2), signal), woken])
    this.wake = undefined
  }

  private pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    return (this.options.pause ?? sleep)(milliseconds, signal)
  }

  private trimmed(object: T): T {
    delete object.metadata.managedFields
    return this.options.trim ? this.options.trim(object) : object
  }

  /** Publishes at most ten times a second, however many events come. */
  private soon(): void {
    this.frame ??= setTimeout(() => this.publish(), 100)
  }

  private publish(): void {
    clearTimeout(this.frame)
    this.frame = undefined
    const max = this.options.limit
    if (max && this.byKey.size > max) {
      for (const key of [...this.byKey.keys()].slice(0, this.byKey.size - max)) this.byKey.delete(key)
    }
    this.items.value = [...this.byKey.values()]
    this.loaded.value = true
    triggerRef(this.items)
  }

  private now(): number {
    return (this.options.now ?? Date.now)()
  }
}

function keyOf(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}

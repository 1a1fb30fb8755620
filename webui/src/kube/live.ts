// SPDX-License-Identifier: Apache-2.0

import {
  onScopeDispose,
  shallowReactive,
  shallowRef,
  toValue,
  watch as observe,
  type MaybeRefOrGetter,
  type ShallowRef,
} from 'vue'

import { list, watch, type Selection } from './client'
import { path } from './resources'
import { ResourceStore, type StoreOptions } from './store'
import type { KubeObject, Resource } from './types'

interface Shared {
  store: ResourceStore<KubeObject>
  users: number
  linger?: ReturnType<typeof setTimeout> | undefined
}

const shared = shallowReactive(new Map<string, Shared>())
// How long an unused store goes on, so that a way back finds it current.
const linger = 20_000

/** A store over the API. Pages that show the same collection share one store, and one watch. */
function acquire<T extends KubeObject>(r: Resource, s: Selection, o: StoreOptions<T>): [string, ResourceStore<T>] {
  const key = [path(r, s.namespace), s.labelSelector ?? '', s.fieldSelector ?? '', JSON.stringify(o.fields)].join('?')
  let entry = shared.get(key)
  if (!entry) {
    const store = new ResourceStore<T>(
      {
        list: (page, signal) => list<T>(r, { ...s, fields: o.fields }, page, signal),
        watch: (version, on, signal) => watch<T>(r, { ...s, fields: o.fields }, version, on, signal),
      },
      o,
    )
    entry = { store: store as unknown as ResourceStore<KubeObject>, users: 0 }
    shared.set(key, entry)
  }
  entry.users++
  clearTimeout(entry.linger)
  entry.store.start()
  return [key, entry.store as unknown as ResourceStore<T>]
}

function release(key: string): void {
  const entry = shared.get(key)
  if (!entry || --entry.users > 0) return
  entry.linger = setTimeout(() => {
    entry.store.stop()
    shared.delete(key)
  }, linger)
}

/** Stops all stores and forgets their objects: at sign-out. */
export function forgetAll(): void {
  for (const entry of shared.values()) {
    clearTimeout(entry.linger)
    entry.store.stop()
  }
  shared.clear()
}

/** Tries all stores again at once: when the network is back, or the page is looked at again. */
export function retryAll(): void {
  for (const entry of shared.values()) entry.store.retry()
}

/** Begins all watches again: when the network is gone, so that it is said at once that the objects may be out of date. */
export function interruptAll(): void {
  for (const entry of shared.values()) entry.store.interrupt()
}

/** The moment since when at least one store is out of date. */
export function stalest(): number | undefined {
  const times = [...shared.values()].flatMap((e) => (e.users > 0 && e.store.staleSince.value) || [])
  return times.length > 0 ? Math.min(...times) : undefined
}

/** A collection that stays current for as long as the component lives. A selection of undefined reads nothing. */
export function useLive<T extends KubeObject>(
  r: Resource,
  selection: MaybeRefOrGetter<Selection | undefined>,
  o: StoreOptions<T> = {},
): ShallowRef<ResourceStore<T> | undefined> {
  const current = shallowRef<ResourceStore<T>>()
  let held: string | undefined
  const drop = () => {
    if (held) release(held)
    held = undefined
  }
  observe(
    () => JSON.stringify(toValue(selection) ?? null),
    () => {
      drop()
      const s = toValue(selection)
      if (!s) {
        current.value = undefined
        return
      }
      const [key, store] = acquire<T>(r, s, o)
      held = key
      current.value = store
    },
    { immediate: true },
  )
  onScopeDispose(drop)
  return current
}

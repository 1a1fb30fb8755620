// SPDX-License-Identifier: Apache-2.0

import { onScopeDispose, ref, shallowRef, type Ref, type ShallowRef } from 'vue'

import { list } from './client'
import { asRequestError, type RequestError } from './errors'
import type { KubeObject, Resource } from './types'

/** What a table needs of a collection, whether it is watched or asked for again and again. */
export interface Collection<T> {
  items: ShallowRef<T[]>
  /** Whether there is something to show. */
  loaded: Ref<boolean>
  error: ShallowRef<RequestError | undefined>
  retry(): void
}

/** A collection that is read by requests of its own. */
export interface Polled<T> extends Collection<T> {
  /** Reads it now. */
  refresh(): Promise<void>
}

/** Reads a collection that cannot be watched, again and again while the page is visible. */
export function usePolled<T extends KubeObject>(r: Resource, period: number): Polled<T> {
  return usePolledBy(async () => (await list<T>(r, {}, {})).items ?? [], period)
}

/** The same for what has a request of its own. What was read stays if a later request fails. */
export function usePolledBy<T>(read: () => Promise<T[]>, period: number): Polled<T> {
  const items: ShallowRef<T[]> = shallowRef([])
  const loaded = ref(false)
  const error = shallowRef<RequestError>()
  let under: Promise<void> | undefined
  async function once(): Promise<void> {
    try {
      items.value = await read()
      loaded.value = true
      error.value = undefined
    } catch (thrown) {
      error.value = asRequestError(thrown)
      if (error.value.kind === 'forbidden') loaded.value = false
    } finally {
      under = undefined
    }
  }
  const refresh = () => (under ??= once())
  void refresh()
  const timer = setInterval(() => {
    const hopeless = error.value?.kind === 'forbidden' || error.value?.kind === 'missing'
    if (document.visibilityState === 'visible' && !hopeless) void refresh()
  }, period)
  onScopeDispose(() => clearInterval(timer))
  return { items, loaded, error, refresh, retry: () => void refresh() }
}

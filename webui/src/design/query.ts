// SPDX-License-Identifier: Apache-2.0

import { computed, type WritableComputedRef } from 'vue'
import { useRoute, useRouter, type RouteLocationRaw } from 'vue-router'

/** Something of a page that is chosen in its address, such as the row whose details are open. */
export interface Chosen {
  /** What is chosen; empty if nothing is. */
  value: WritableComputedRef<string>
  /** Whether something is chosen; to set it to false chooses nothing. */
  open: WritableComputedRef<boolean>
  /** The address at which something is chosen. */
  at: (value: string) => RouteLocationRaw
}

/** Keeps a choice in the query of the address, so that a link shows the same and the key for back undoes it. */
export function useChosen(key: string): Chosen {
  const route = useRoute()
  const router = useRouter()
  const without = () => Object.fromEntries(Object.entries(route.query).filter(([k]) => k !== key))
  const at = (value: string): RouteLocationRaw => ({ query: value ? { ...without(), [key]: value } : without() })
  const value = computed({
    get: () => (typeof route.query[key] === 'string' ? route.query[key] : ''),
    set: (now: string) => void router.replace(at(now)),
  })
  const open = computed({
    get: () => value.value !== '',
    set: (now: boolean) => {
      if (!now) value.value = ''
    },
  })
  return { value, open, at }
}

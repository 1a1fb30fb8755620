// SPDX-License-Identifier: Apache-2.0

import { ref, watch, type Ref } from 'vue'

/** A preference of the user that this browser remembers. Nothing secret belongs here. */
export function useStored<T>(name: string, initial: T): Ref<T> {
  const key = 'terrarium.' + name
  let first = initial
  try {
    const kept = localStorage.getItem(key)
    if (kept !== null) first = JSON.parse(kept) as T
  } catch {
    // What cannot be read counts as not set.
  }
  const value = ref(first) as Ref<T>
  watch(
    value,
    (now) => {
      try {
        localStorage.setItem(key, JSON.stringify(now))
      } catch {
        // Without storage the preference lasts until the page is closed.
      }
    },
    { deep: true },
  )
  return value
}

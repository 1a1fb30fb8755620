// SPDX-License-Identifier: Apache-2.0

import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'

import { asRequestError, type RequestError } from '@/kube/errors'
import { sendJSON } from '@/kube/http'

import { requestOf, type AuditFilter } from './filter'
import { keyOf, type AuditEvent } from './types'

/** The answer to a search: the newest events that match, the oldest of them first. */
interface Answer {
  items: AuditEvent[]
  disabled?: boolean
}

export const pageSize = 200
const most = 5_000
const pause = 2_000
// The time after which a search is repeated that has failed for a reason that passes.
const patience = 3_000
// An event is written a moment after its time.
const overlap = 2_000

/** What was found, the newest first. */
export interface Trail {
  events: ShallowRef<AuditEvent[]>
  /** Whether the first page is there. */
  loaded: Ref<boolean>
  busy: Ref<boolean>
  /** Whether there may be older ones. */
  more: Ref<boolean>
  /** Whether the server keeps no audit log. */
  disabled: Ref<boolean>
  error: ShallowRef<RequestError | undefined>
  older(): Promise<void>
  again(): Promise<void>
}

/** Puts together what is known and what was found, without doubles, the newest first. */
export function merged(known: AuditEvent[], found: AuditEvent[]): AuditEvent[] {
  const all = new Map([...known, ...found].map((e) => [keyOf(e), e]))
  return [...all.values()].sort(
    (a, b) => compareTimes(b.stageTimestamp, a.stageTimestamp) || (keyOf(a) < keyOf(b) ? -1 : 1),
  )
}

// The times have microseconds, and zeros at their end are left out: as texts they are not in order.
function compareTimes(a: string, b: string): number {
  const whole = Math.floor(Date.parse(a) / 1000) - Math.floor(Date.parse(b) / 1000)
  const part = (at: string) => Number('0.' + (/\.(\d+)/.exec(at)?.[1] ?? '0'))
  return whole || part(a) - part(b)
}

/** Searches the audit log, and goes on with new events while it is followed. */
export function useTrail(filter: Ref<AuditFilter>, following: Ref<boolean>): Trail {
  const events = shallowRef<AuditEvent[]>([])
  const [loaded, busy, more, disabled] = [ref(false), ref(false), ref(false), ref(false)]
  const error = shallowRef<RequestError>()
  let round = 0
  let repeat: ReturnType<typeof setTimeout> | undefined

  const ask = (page: { limit: number; since?: string; until?: string }) =>
    sendJSON<Answer>('/kube/appliance/audit?' + requestOf(filter.value, page, Date.now()))

  function again(): Promise<void> {
    error.value = undefined
    return first()
  }

  async function first(): Promise<void> {
    const mine = ++round
    clearTimeout(repeat)
    busy.value = true
    try {
      const answer = await ask({ limit: pageSize })
      if (mine !== round) return
      events.value = merged([], answer.items)
      more.value = answer.items.length >= pageSize
      disabled.value = answer.disabled ?? false
      loaded.value = true
      error.value = undefined
    } catch (thrown) {
      if (mine !== round) return
      error.value = asRequestError(thrown)
      if (error.value.passing) repeat = setTimeout(first, patience)
    } finally {
      if (mine === round) busy.value = false
    }
  }

  async function older(): Promise<void> {
    const oldest = events.value.at(-1)
    if (!oldest || busy.value) return
    const mine = round
    busy.value = true
    try {
      const answer = await ask({ limit: pageSize, until: oldest.stageTimestamp })
      if (mine !== round) return
      const before = events.value.length
      events.value = merged(events.value, answer.items)
      more.value = answer.items.length >= pageSize && events.value.length > before
    } catch (thrown) {
      if (mine === round) error.value = asRequestError(thrown)
    } finally {
      if (mine === round) busy.value = false
    }
  }

  async function newer(): Promise<void> {
    if (busy.value || !loaded.value || document.visibilityState !== 'visible') return
    const mine = round
    const newest = events.value[0]
    const since = new Date((newest ? Date.parse(newest.stageTimestamp) : Date.now()) - overlap).toISOString()
    try {
      const answer = await ask({ limit: most, since })
      if (mine !== round) return
      error.value = undefined
      const all = merged(events.value, answer.items)
      if (all.length > events.value.length) events.value = all.slice(0, most)
      if (all.length > most) more.value = true
    } catch (thrown) {
      const failed = asRequestError(thrown)
      // Two searches at a time are allowed; the next one may come through.
      if (mine === round && failed.kind !== 'busy') error.value = failed
    }
  }

  watch(() => JSON.stringify(filter.value), again, { immediate: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  let over = false
  const tick = () => {
    clearTimeout(timer)
    if (over || !following.value) return
    timer = setTimeout(() => void newer().finally(tick), pause)
  }
  watch(following, tick, { immediate: true })
  onScopeDispose(() => {
    over = true
    round++
    clearTimeout(timer)
    clearTimeout(repeat)
  })
  return { events, loaded, busy, more, disabled, error, older, again }
}

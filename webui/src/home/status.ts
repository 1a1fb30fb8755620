// SPDX-License-Identifier: Apache-2.0

import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'

import { asRequestError, type RequestError } from '@/kube/errors'
import { sendJSON } from '@/kube/http'

/** What the server tells administrators about itself. What it does not know is absent. */
export interface Status {
  started?: string
  now?: string
  version?: string
  process?: {
    cpuSeconds?: number
    residentBytes?: number
    heapBytes?: number
    memoryLimitBytes?: number
    goroutines?: number
    openFiles?: number
  }
  machine?: { cpus?: number }
  store?: {
    sizeBytes?: number
    walBytes?: number
    databases?: { name: string; sizeBytes?: number; walBytes?: number; lastCompaction?: string }[]
  }
  /** How well the garden is saved; absent if the server takes no snapshots. */
  snapshots?: {
    destination?: string
    last?: string
    lastTime?: string
    bytes?: number
    /** The time up to which all writes can be restored. */
    protected?: string
    failing: boolean
    lastError?: string
    lastErrorTime?: string
  }
  certificates?: { name: string; notAfter: string; daysLeft: number }[]
  units?: { name: string; ready: boolean }[]
  controllers?: { name: string; reconciles?: number; errors?: number; active?: number; queue?: number }[]
}

/** One look at the server: a point of the charts. */
export interface Sample {
  at: number
  cpu: number | undefined
  memory: number | undefined
  size: number | undefined
}

export interface StatusFeed {
  latest: ShallowRef<Status | undefined>
  samples: ShallowRef<Sample[]>
  error: ShallowRef<RequestError | undefined>
}

const period = 5_000
const most = 360
// The samples outlive the page, so that a way back finds the chart as it was.
const latest = shallowRef<Status>()
const samples = shallowRef<Sample[]>([])
const error = shallowRef<RequestError>()
let before: { at: number; seconds: number } | undefined

/** A point of the charts. The use of the CPU is the share of one core since the last look. */
export function sampleOf(status: Status, at: number, last: typeof before): Sample {
  const seconds = status.process?.cpuSeconds
  const cpu =
    seconds !== undefined && last && at > last.at && seconds >= last.seconds
      ? ((seconds - last.seconds) * 1000) / (at - last.at)
      : undefined
  return { at, cpu, memory: status.process?.residentBytes, size: status.store?.sizeBytes }
}

async function look(): Promise<void> {
  try {
    const status = await sendJSON<Status>('/status')
    const at = status.now ? Date.parse(status.now) : Date.now()
    if (samples.value.at(-1)?.at !== at)
      samples.value = [...samples.value.slice(1 - most), sampleOf(status, at, before)]
    if (status.process?.cpuSeconds !== undefined) before = { at, seconds: status.process.cpuSeconds }
    latest.value = status
    error.value = undefined
  } catch (thrown) {
    error.value = asRequestError(thrown)
  }
}

/** Looks at the server every five seconds while the page is visible. */
export function useStatus(): StatusFeed {
  void look()
  const timer = setInterval(() => {
    const hopeless = error.value?.kind === 'forbidden' || error.value?.kind === 'missing'
    if (document.visibilityState === 'visible' && !hopeless) void look()
  }, period)
  onScopeDispose(() => clearInterval(timer))
  return { latest, samples, error }
}

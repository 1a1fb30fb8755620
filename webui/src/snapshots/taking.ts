// SPDX-License-Identifier: Apache-2.0

import { shallowRef } from 'vue'

import { create, get, list } from '@/kube/client'
import { asRequestError } from '@/kube/errors'
import { snapshots } from '@/kube/resources'

import type { Snapshot } from './types'

/** What taking a snapshot asks of the garden. */
export interface Taker {
  create(): Promise<Snapshot>
  get(name: string): Promise<Snapshot>
  names(): Promise<string[]>
  pause(milliseconds: number): Promise<void>
  now(): number
}

const limit = 10 * 60_000
const between = 2_000

const api: Taker = {
  create: () =>
    create<Snapshot>(snapshots, undefined, { apiVersion: 'appliance.gardener.cloud/v1alpha1', kind: 'Snapshot' }),
  get: (name) => get<Snapshot>(snapshots, { name }),
  names: async () => ((await list<Snapshot>(snapshots, {}, {})).items ?? []).map((s) => s.metadata.name),
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  now: () => Date.now(),
}

/**
 * Takes a snapshot and returns it once it is complete. The server gives up requests that take long, while the snapshot goes on: then the
 * list tells when it is there. The request is not repeated, because that would take another one.
 */
export async function take(garden: Taker = api): Promise<Snapshot> {
  const before = new Set(await garden.names())
  const end = garden.now() + limit
  try {
    return await garden.create()
  } catch (thrown) {
    if (!unanswered(thrown)) throw thrown
    while (garden.now() < end) {
      await garden.pause(between)
      const made = await garden.names().then(
        (names) => names.find((name) => !before.has(name)),
        // A list waits for the snapshot, and may not be answered in time either.
        (error: unknown) => {
          if (!unanswered(error)) throw error
        },
      )
      if (made) return garden.get(made)
    }
    throw thrown
  }
}

function unanswered(thrown: unknown): boolean {
  const error = asRequestError(thrown)
  return error.code === 504 || error.status?.reason === 'Timeout' || error.message.endsWith('context deadline exceeded')
}

/** Since when a snapshot is being taken by this page; undefined if none is. It outlives the page. */
export const takingSince = shallowRef<number>()

/** Takes a snapshot, and says meanwhile that it does. */
export async function takeOne(): Promise<Snapshot> {
  takingSince.value = Date.now()
  try {
    return await take()
  } finally {
    takingSince.value = undefined
  }
}

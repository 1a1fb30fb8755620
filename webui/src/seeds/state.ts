// SPDX-License-Identifier: Apache-2.0

import type { Tone } from '@/design/tone'
import { t } from '@/text/en'

import type { Seed } from './types'

export type SeedState = keyof typeof t.seeds.states

export const seedTone: Record<SeedState, Tone> = {
  ready: 'ok',
  notReady: 'bad',
  unknown: 'warn',
  joining: 'busy',
  deleting: 'busy',
  shutOut: 'bad',
}

/** Judges a seed by its conditions. The garden sets GardenletReady to Unknown when the gardenlet no longer calls. */
export function stateOf(seed: Seed, shutOut = false): SeedState {
  if (shutOut) return 'shutOut'
  if (seed.metadata.deletionTimestamp) return 'deleting'
  const conditions = seed.status?.conditions ?? []
  const gardenlet = conditions.find((c) => c.type === 'GardenletReady')
  if (!gardenlet) return 'joining'
  if (gardenlet.status === 'Unknown') return 'unknown'
  if (conditions.some((c) => c.status === 'False')) return 'notReady'
  return conditions.every((c) => c.status === 'True') ? 'ready' : 'joining'
}

/** The conditions of a seed in two letters. */
export function seedConditionShort(type: string): string {
  const known: Record<string, string> = {
    GardenletReady: 'GL',
    SeedSystemComponentsHealthy: 'SC',
    ExtensionsReady: 'EXT',
    BackupBucketsReady: 'BB',
    Bootstrapped: 'BS',
    EmergencyStopShootReconciliations: 'STOP',
  }
  return known[type] ?? type.replace(/[^A-Z]/g, '').slice(0, 3)
}

/** Whether the version of a gardenlet differs from that of the server in more than the patch. */
export function skewed(gardenlet: string | undefined, server: string | undefined): boolean {
  const minor = (v: string) => /^v?(\d+\.\d+)/.exec(v)?.[1]
  return Boolean(gardenlet && server && minor(gardenlet) !== minor(server))
}

// SPDX-License-Identifier: Apache-2.0

import type { RouteLocationRaw } from 'vue-router'

import type { Tone } from '@/design/tone'
import { t } from '@/text/en'

import { stateOf, stateTone, type ShootState } from './state'
import type { Shoot } from './types'

const order: ShootState[] = ['healthy', 'working', 'unhealthy', 'error', 'hibernated', 'pending', 'unknown']

/** How many clusters are in each state, with the list of them. States without a cluster are left out. */
export function partsOf(
  shoots: Shoot[],
  to: (state: ShootState) => RouteLocationRaw,
): { id: string; label: string; tone: Tone; count: number; to: RouteLocationRaw }[] {
  const counts = new Map<ShootState, number>()
  for (const s of shoots) counts.set(stateOf(s), (counts.get(stateOf(s)) ?? 0) + 1)
  return order
    .filter((s) => counts.has(s))
    .map((s) => ({ id: s, label: t.shootState[s], tone: stateTone[s], count: counts.get(s)!, to: to(s) }))
}

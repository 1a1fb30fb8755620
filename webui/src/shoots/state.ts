// SPDX-License-Identifier: Apache-2.0

import type { Tone } from '@/design/tone'
import type { Condition } from '@/kube/types'
import { t } from '@/text/en'

import type { Shoot } from './types'

/** How a shoot is, in one word. */
export type ShootState = 'healthy' | 'working' | 'unhealthy' | 'error' | 'hibernated' | 'pending' | 'unknown'

export const stateTone: Record<ShootState, Tone> = {
  healthy: 'ok',
  working: 'busy',
  unhealthy: 'warn',
  error: 'bad',
  hibernated: 'asleep',
  pending: 'off',
  unknown: 'off',
}

/** The order in which states matter to an operator: the worst first. */
export const stateOrder: Record<ShootState, number> = {
  error: 0,
  unhealthy: 1,
  working: 2,
  pending: 3,
  unknown: 4,
  healthy: 5,
  hibernated: 6,
}

/** Judges a shoot by its last operation and its conditions. */
export function stateOf(shoot: Shoot): ShootState {
  const operation = shoot.status?.lastOperation
  if (!operation) return 'pending'
  if (operation.state === 'Error' || operation.state === 'Failed') return 'error'
  if (operation.state === 'Processing') return 'working'
  if (operation.state === 'Pending') return 'pending'
  if (operation.state === 'Aborted') return 'unknown'
  if (isHibernated(shoot)) return 'hibernated'
  return (shoot.status?.conditions ?? []).some((c) => c.status === 'False') ? 'unhealthy' : 'healthy'
}

/** What to write for it: the state, or what the garden does at the moment. */
export function stateLabel(shoot: Shoot): string {
  const operation = shoot.status?.lastOperation
  const state = stateOf(shoot)
  if (operation && state === 'working') return t.operation.doing[operation.type]
  if (operation && state === 'error') {
    return operation.state === 'Failed' ? t.operation.failed[operation.type] : t.operation.retrying[operation.type]
  }
  if (shoot.metadata.deletionTimestamp && state === 'pending') return t.operation.doing.Delete
  return t.shootState[state]
}

/** Whether the shoot sleeps, or is on its way to sleep. */
export function isHibernated(shoot: Shoot): boolean {
  return (
    shoot.status?.hibernated === true ||
    (shoot.spec.hibernation?.enabled === true && shoot.status?.hibernated !== false)
  )
}

/** Since when something is wrong; undefined if nothing is. */
export function issueSince(shoot: Shoot): string | undefined {
  const times = (shoot.status?.conditions ?? [])
    .filter((c) => c.status === 'False' || c.status === 'Unknown')
    .map((c) => c.lastTransitionTime)
  for (const e of shoot.status?.lastErrors ?? []) times.push(e.lastUpdateTime)
  return times.filter((x): x is string => Boolean(x)).sort()[0]
}

/** All error codes of the shoot, each once. */
export function codesOf(shoot: Shoot): string[] {
  const codes = [...(shoot.status?.lastErrors ?? []), ...(shoot.status?.conditions ?? [])].flatMap((x) => x.codes ?? [])
  return [...new Set(codes)].sort()
}

export function conditionTone(c: Condition): Tone {
  // Of these, False is what is wanted.
  if (c.type === 'Progressing') return c.status === 'True' ? 'busy' : c.status === 'False' ? 'ok' : 'off'
  if (c.type === 'Required') return c.status === 'True' ? 'ok' : 'off'
  if (c.type === 'EmergencyStopShootReconciliations') return c.status === 'True' ? 'bad' : 'off'
  return c.status === 'True' ? 'ok' : c.status === 'False' ? 'bad' : c.status === 'Progressing' ? 'busy' : 'off'
}

/** Two letters for a condition, such as AS for APIServerAvailable. */
export function conditionShort(type: string): string {
  const known: Record<string, string> = {
    APIServerAvailable: 'API',
    ControlPlaneHealthy: 'CP',
    ObservabilityComponentsHealthy: 'OC',
    EveryNodeReady: 'N',
    SystemComponentsHealthy: 'SC',
  }
  return known[type] ?? type.replace(/[^A-Z]/g, '').slice(0, 3)
}

/** The name of the profile, wherever the manifest has it. */
export function profileName(shoot: Shoot): string {
  return shoot.spec.cloudProfile?.name ?? shoot.spec.cloudProfileName ?? ''
}

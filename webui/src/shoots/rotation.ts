// SPDX-License-Identifier: Apache-2.0

import { t } from '@/text/en'

import type { Rotation, Shoot } from './types'

/** A credential that can be rotated. Those in two phases need a second step after users have changed over. */
export interface Rotatable {
  id: string
  label: string
  /** The operation that starts, and the one that completes; without the second it is done in one step. */
  start: string
  complete?: string
  rotation: Rotation | undefined
}

const kinds: [id: string, start: string, complete?: string][] = [
  ['certificateAuthorities', 'rotate-ca-start', 'rotate-ca-complete'],
  ['serviceAccountKey', 'rotate-serviceaccount-key-start', 'rotate-serviceaccount-key-complete'],
  ['etcdEncryptionKey', 'rotate-etcd-encryption-key'],
  ['observability', 'rotate-observability-credentials'],
  ['sshKeypair', 'rotate-ssh-keypair'],
]

/** What can be rotated in a cluster, with the state of each. */
export function rotatables(shoot: Shoot): Rotatable[] {
  const state = shoot.status?.credentials?.rotation ?? {}
  return kinds.map(([id, start, complete]) => ({
    id,
    label: (t.rotation.kinds as Record<string, string>)[id] ?? id,
    start,
    ...(complete ? { complete } : {}),
    rotation: state[id],
  }))
}

/** What can be done with all at once: to start, or to complete those in two phases; none while one of them is under way. */
export function allStep(all: Rotatable[]): { operation: string; label: string } | undefined {
  const phases = all.filter((r) => r.complete).map((r) => r.rotation?.phase || 'Completed')
  if (phases.every((p) => p === 'Prepared'))
    return { operation: 'rotate-credentials-complete', label: t.rotation.completeAll }
  const idle = all.every((r) => (r.rotation?.phase || 'Completed') === 'Completed')
  return idle ? { operation: 'rotate-credentials-start', label: t.rotation.startAll } : undefined
}

/** The operation that comes next: to start, to complete, or none while one is under way. */
export function nextStep(r: Rotatable): { operation: string; label: string } | undefined {
  switch (r.rotation?.phase) {
    case 'Prepared':
      return r.complete ? { operation: r.complete, label: t.rotation.complete } : undefined
    case undefined:
    case '':
    case 'Completed':
      return { operation: r.start, label: t.rotation.start }
    default:
      return undefined
  }
}

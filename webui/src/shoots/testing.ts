// SPDX-License-Identifier: Apache-2.0

import type { LastOperation } from '@/kube/types'

import type { Shoot } from './types'

/** A shoot for tests, with what they vary. */
export function shootFixture(o: {
  name?: string
  seed?: string
  version?: string
  purpose?: string
  state?: LastOperation['state'] | ''
  type?: LastOperation['type']
  conditions?: { type: string; status: 'True' | 'False' | 'Unknown' }[]
  hibernated?: boolean
}): Shoot {
  const failed = o.state === 'Error' || o.state === 'Failed'
  return {
    metadata: {
      name: o.name ?? 'sprout',
      namespace: 'garden-meadow',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: {
      region: 'local',
      cloudProfile: { kind: 'CloudProfile', name: 'local' },
      kubernetes: { version: o.version ?? '1.36.3' },
      provider: { type: 'local' },
      ...(o.seed ? { seedName: o.seed } : {}),
      ...(o.purpose ? { purpose: o.purpose } : {}),
    },
    status: {
      hibernated: o.hibernated ?? false,
      conditions: (o.conditions ?? []).map((c) => ({ ...c, lastTransitionTime: '2026-01-02T00:00:00Z' })),
      lastErrors: failed
        ? [{ description: 'denied', codes: ['ERR_INFRA_UNAUTHENTICATED'], lastUpdateTime: '2026-01-01T12:00:00Z' }]
        : [],
      ...(o.state === ''
        ? {}
        : {
            lastOperation: {
              type: o.type ?? 'Reconcile',
              state: o.state ?? 'Succeeded',
              progress: 50,
              lastUpdateTime: '2026-01-01T00:00:00Z',
            },
          }),
    },
  }
}

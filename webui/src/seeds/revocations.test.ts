// SPDX-License-Identifier: Apache-2.0

import { afterEach, expect, it, vi } from 'vitest'

import { byKind, exposure, forgive, revoke } from './revocations'
import { stateOf } from './state'
import type { Seed } from './types'

afterEach(() => vi.unstubAllGlobals())

it('groups what a seed could read, and knows what is secret', () => {
  const groups = byKind([
    { kind: 'Secret', namespace: 'garden', name: 'a' },
    { kind: 'Secret', namespace: 'garden', name: 'b' },
    { kind: 'Shoot', namespace: 'garden-x', name: 'web' },
  ])
  expect(groups.map((x) => [x.kind, x.secret, x.objects.length])).toEqual([
    ['Secret', true, 2],
    ['Shoot', false, 1],
  ])
})

it('asks for one seed, whatever its name is', async () => {
  const calls: string[] = []
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    calls.push([init.method, url, init.body].filter(Boolean).join(' '))
    return Promise.resolve(new Response('{"seed":"eu-1","revoked":true}'))
  })
  await revoke('eu-1', 'stolen')
  await forgive('eu-1', false)
  await forgive('../x', true)
  expect(await exposure('eu-1')).toEqual([])
  expect(calls).toEqual([
    'POST /ui/kube/appliance/revocations/eu-1 {"reason":"stolen"}',
    'DELETE /ui/kube/appliance/revocations/eu-1',
    'DELETE /ui/kube/appliance/revocations/..%2Fx?credentials=new',
    'GET /ui/kube/appliance/revocations/eu-1',
  ])
})

it('shows that a seed is shut out before all else', () => {
  const seed = {
    metadata: { name: 'eu-1' },
    status: { conditions: [{ type: 'GardenletReady', status: 'True' }] },
  } as Seed
  expect([stateOf(seed), stateOf(seed, true)]).toEqual(['ready', 'shutOut'])
})

// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest'

import { joinCommand, randomText, stepsOf, tokenSecret, type SigningRequest } from './join'
import type { Seed } from './types'

const token = { id: 'abcdef', secret: '0123456789abcdef', expires: '2026-01-01T00:00:00Z' }
const request = (username: string, status: SigningRequest['status']): SigningRequest => ({
  metadata: { name: 'r', uid: 'r', resourceVersion: '1', creationTimestamp: '' },
  spec: { username },
  ...(status ? { status } : {}),
})
const seed = (ready: 'True' | 'Unknown'): Seed => ({
  metadata: { name: 'eu-1', uid: 's', resourceVersion: '1', creationTimestamp: '' },
  spec: { provider: { type: 'local', region: 'local' } },
  status: { conditions: [{ type: 'GardenletReady', status: ready }] },
})
const states = (...args: Parameters<typeof stepsOf>) => stepsOf(...args).map((s) => s.state)

describe('stepsOf', () => {
  it('waits for the request', () =>
    expect(states('abcdef', [], undefined)).toEqual(['done', 'now', 'later', 'later', 'later']))
  it('does not count requests with other tokens', () => {
    expect(states('abcdef', [request('system:bootstrap:fedcba', { certificate: 'x' })], undefined)[1]).toBe('now')
  })
  it('sees that a request is signed', () => {
    expect(states('abcdef', [request('system:bootstrap:abcdef', { certificate: 'x' })], undefined)).toEqual([
      'done',
      'done',
      'done',
      'now',
      'later',
    ])
  })
  it('says why a request was denied', () => {
    const denied = { conditions: [{ type: 'Denied', message: 'the seed exists' }] }
    expect(stepsOf('abcdef', [request('system:bootstrap:abcdef', denied)], undefined)[2]).toEqual({
      name: 'signed',
      state: 'failed',
      text: 'the seed exists',
    })
  })
  it('takes a registered seed as the proof of what came before', () => {
    expect(states('abcdef', [], seed('Unknown'))).toEqual(['done', 'done', 'done', 'done', 'now'])
    expect(states('abcdef', [], seed('True')).at(-1)).toBe('done')
  })
})

describe('the token', () => {
  it('is random and of the letters that are allowed', () => {
    expect(randomText(16)).toMatch(/^[a-z0-9]{16}$/)
    expect(new Set(Array.from({ length: 50 }, () => randomText(16))).size).toBe(50)
  })
  it('joins one seed only', () => {
    expect(tokenSecret(token, 'eu-1')).toMatchObject({
      type: 'bootstrap.kubernetes.io/token',
      stringData: { seed: 'eu-1', expiration: token.expires },
    })
  })
  it('is pinned to the CA in the command', () => {
    const plan = { name: 'eu-1', provider: 'local', region: 'local', domain: '', minutes: 60 }
    const info = { version: '', server: 'https://garden:6443', caFingerprint: 'aa', clusterIdentity: '', admin: true }
    expect(joinCommand(plan, token, info)).toBe(
      'terrarium gardenlet join https://garden:6443 --token T10aa::abcdef.0123456789abcdef --seed-kubeconfig seed.kubeconfig --name eu-1 --provider local --region local',
    )
  })
})

// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest'

import { daysUntil, isAuthority, urgency } from './certificates'
import { anyRotates, isTokenKey, tokenKeyRotates, type Item } from './pki'

it.each([
  ['serving', 31, 'ok'],
  ['serving', 29, 'warn'],
  ['serving', 6, 'bad'],
  ['serving', -1, 'bad'],
  ['server-ca', 179, 'warn'],
  ['server-ca', 29, 'bad'],
  ['client-ca-2', 181, 'ok'],
])('%s with %d days left is %s', (name, days, want) => expect(urgency(name, days)).toBe(want))

it('tells authorities by their names', () =>
  expect(['client-ca', 'front-proxy-ca', 'front-proxy-client', 'cab'].map(isAuthority)).toEqual([
    true,
    true,
    false,
    false,
  ]))

it('counts whole days', () => {
  const now = Date.parse('2026-11-22T12:00:00Z')
  expect([daysUntil('2026-11-23T11:00:00Z', now), daysUntil('2026-11-24T12:00:00Z', now)]).toEqual([0, 2])
})

it('tells which key of tokens is being rotated', () => {
  const key = (name: string, state: Item['state']): Item => ({ name, kind: 'key', state })
  const items = [
    key('service-account', 'ok'),
    key('workload-identity', 'ok'),
    key('workload-identity-former', 'rotating'),
    key('encryption', 'rotating'),
  ]
  expect(tokenKeyRotates(items, 'workload-identity')).toBe(true)
  expect(tokenKeyRotates(items, 'service-account')).toBe(false)
  expect(items.map((x) => isTokenKey(x.name))).toEqual([true, true, false, false])
  expect(isTokenKey('toString')).toBe(false)
  // The key of Secrets completes by itself.
  expect(anyRotates({ items: [key('encryption', 'rotating')] })).toBe(false)
  expect(anyRotates({ items })).toBe(true)
  expect(anyRotates({ items: [], authorities: { phase: 'prepared', started: '' } })).toBe(true)
})

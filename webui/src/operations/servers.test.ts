// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest'

import { format } from '@/design/time'

import { keysOf, ordered, role, type KeyHolder } from './servers'

const seen = '2026-11-22T12:00:00Z'
const server = (is: Partial<KeyHolder>): KeyHolder => ({
  address: '192.0.2.1:6443',
  generation: 7,
  leads: false,
  runs: true,
  current: true,
  seen,
  ...is,
})

it.each([
  ['the one that leads', server({ leads: true }), 'ok', 'Leads'],
  ['another one that runs', server({}), 'off', 'Stands by'],
  ['one that is off', server({ runs: false }), 'warn', `Off since ${format.dateTime(seen)}`],
])('says what %s does', (_, is, tone, text) => expect(role(is)).toEqual({ tone, text }))

it.each([
  ['the newest', server({}), 'ok', 'Newest'],
  ['older ones, which changes in a moment', server({ current: false }), 'busy', 'Old'],
  ['older ones until it starts', server({ current: false, runs: false }), 'off', 'Old'],
  ['older ones that it cannot change', server({ current: false, failure: 'no' }), 'bad', 'Old'],
  ['the newest, but cannot lead', server({ failure: 'upgrade this server' }), 'bad', 'Newest'],
])('says that a server has %s', (_, is, tone, text) => expect(keysOf(is)).toEqual({ tone, text }))

it('begins with the one that leads', () => {
  const all = ['b', 'c', 'a'].map((address) => server({ address, leads: address === 'c' }))
  expect(ordered(all).map((x) => x.address)).toEqual(['c', 'a', 'b'])
  expect(all[0]?.address).toBe('b')
})

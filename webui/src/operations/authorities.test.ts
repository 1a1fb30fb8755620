// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest'

import { nextPhase, stepsOf } from './authorities'
import type { AuthorityRotation } from './pki'

const at = '2026-11-22T12:00:00Z'
const rotations: [string, AuthorityRotation, string[], string | undefined][] = [
  ['is not saved yet', { phase: 'preparing', started: at, waiting: ['one'] }, ['now', 'later', 'later'], 'complete'],
  [
    'has no gardenlets, and is not saved yet',
    { phase: 'prepared', started: at },
    ['now', 'later', 'later'],
    'complete',
  ],
  ['waits for gardenlets', { phase: 'preparing', started: at, saved: at }, ['done', 'now', 'later'], 'complete'],
  ['waits for people', { phase: 'prepared', started: at, saved: at }, ['done', 'done', 'later'], 'complete'],
  ['is completed by force', { phase: 'completing', started: at }, ['done', 'done', 'now'], undefined],
]
it.each(rotations)('a rotation that %s', (_, is, states, next) => {
  expect(stepsOf(is).map((s) => s.state)).toEqual(states)
  expect(nextPhase(is)).toBe(next)
})

it('a rotation can be started if none goes on', () => expect(nextPhase(undefined)).toBe('start'))

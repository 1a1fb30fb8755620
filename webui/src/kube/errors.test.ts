// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest'

import { fromStatus } from './errors'

it.each([
  [
    'a permission',
    'shoots.core.gardener.cloud "lily" is forbidden: User "rose" cannot create resource "shoots"',
    'forbidden',
  ],
  [
    'the right to a verb',
    'projects.core.gardener.cloud "meadow" is forbidden: user "rose" may not manage members',
    'forbidden',
  ],
  ['the right to a path', 'forbidden: User "rose" cannot get path "/appliance/status"', 'forbidden'],
  [
    'what is in the object',
    'shoots.core.gardener.cloud "lily" is forbidden: no ControllerRegistration offers it',
    'refused',
  ],
  ['a quota', 'configmaps "one" is forbidden: exceeded quota: ours', 'refused'],
])('403 is told apart: %s', (_, message, want) => {
  expect(fromStatus(403, { kind: 'Status', code: 403, reason: 'Forbidden', message }, '').kind).toBe(want)
})

it('403 without a Status is a lack of permission', () =>
  expect(fromStatus(403, undefined, 'no').kind).toBe('forbidden'))

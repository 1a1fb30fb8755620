// SPDX-License-Identifier: Apache-2.0

import { expect, test } from 'vitest'

import { newest, newestFirst, type CloudProfile, type Version } from './types'

const profile = (versions: Version[]) => ({ spec: { type: 'local', kubernetes: { versions } } }) as CloudProfile
const now = Date.parse('2026-11-22T12:00:00Z')

test('versions are numbers, not words', () => {
  expect(
    newestFirst([{ version: '1.9.2' }, { version: '1.36.10' }, { version: '1.36.9' }]).map((v) => v.version),
  ).toEqual(['1.36.10', '1.36.9', '1.9.2'])
})

test('the newest version is one that can be chosen', () => {
  const versions = [
    { version: '1.37.0', classification: 'preview' },
    { version: '1.36.4', expirationDate: '2026-11-22T12:00:00Z' },
    { version: '1.36.3', expirationDate: '2026-11-22T12:00:01Z' },
    { version: '1.35.9' },
  ]
  expect(newest(profile(versions), now)).toBe('1.36.3')
  expect(newest(profile([versions[0]!]), now)).toBeUndefined()
})

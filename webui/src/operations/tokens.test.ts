// SPDX-License-Identifier: Apache-2.0

import { expect, test } from 'vitest'

import { idOf, part, tokenState, type TokenSecret } from './tokens'

const now = Date.parse('2026-11-22T12:00:00Z')
const secret = (data: Record<string, string>, annotations = {}) =>
  ({
    metadata: { name: 'bootstrap-token-abc123', annotations },
    data: Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Buffer.from(v).toString('base64')])),
  }) as unknown as TokenSecret

test('a token is told by its id, and its description may have any letters', () => {
  const token = secret({ description: 'Seed für Gärten' })
  expect(idOf(token)).toBe('abc123')
  expect(part(token, 'description')).toBe('Seed für Gärten')
  expect(part(token, 'seed')).toBeUndefined()
})

test('a token is valid until its time is over, and until a seed has used it', () => {
  expect(tokenState(secret({ expiration: '2026-11-22T12:00:01Z' }), now)).toBe('valid')
  expect(tokenState(secret({ expiration: '2026-11-22T12:00:00Z' }), now)).toBe('expired')
  expect(
    tokenState(secret({ expiration: '2026-11-22T13:00:00Z' }, { 'token.terrarium.garden/used-by-seed': 'eu-1' }), now),
  ).toBe('used')
})

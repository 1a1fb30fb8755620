// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest'

import { matches, parse, unknownFields, withField } from './query'
import { shootFixture } from './testing'

describe('parse', () => {
  it.each([
    ['web', [{ values: ['web'], not: false }]],
    ['seed:eu-1', [{ field: 'seed', values: ['eu-1'], not: false }]],
    ['-purpose:testing', [{ field: 'purpose', values: ['testing'], not: true }]],
    ['status:error,unhealthy', [{ field: 'status', values: ['error', 'unhealthy'], not: false }]],
    ['"two words"', [{ values: ['two words'], not: false }]],
    ['label:"a=b c"', [{ field: 'label', values: ['a=b c'], not: false }]],
    ['  ', []],
    ['seed:', []],
  ])('reads %j', (text, want) => expect(parse(text)).toEqual(want))

  it('names fields that do not exist', () => {
    expect(unknownFields(parse('sead:eu-1 seed:eu-1 word'))).toEqual(['sead'])
  })
})

describe('matches', () => {
  const shoot = shootFixture({ name: 'web', seed: 'eu-1', version: '1.36.3', purpose: 'production', state: 'Error' })
  it.each([
    ['web', true],
    ['WEB', true],
    ['meadow', true],
    ['orchard', false],
    ['seed:eu-1', true],
    ['seed:eu', false],
    ['seed:us-1,eu-1', true],
    ['-seed:eu-1', false],
    ['status:error', true],
    ['status:healthy', false],
    ['version:1.36', true],
    ['version:1.3', false],
    ['purpose:production web', true],
    ['purpose:production shop', false],
    ['code:UNAUTHENTICATED', true],
    ['hibernated:false', true],
    ['condition:none', true],
    ['sead:eu-1', true],
  ])('%j is %s', (text, want) => expect(matches(shoot, 'meadow', parse(text))).toBe(want))
})

describe('withField', () => {
  it.each([
    ['web', 'status', 'error', 'web status:error'],
    ['status:working web', 'status', 'error', 'web status:error'],
    ['web status:error', 'status', '', 'web'],
    ['-status:error', 'status', '', ''],
  ])('%j %s %j', (text, field, value, want) => expect(withField(text, field, value)).toBe(want))
})

// SPDX-License-Identifier: Apache-2.0

import { expect, test } from 'vitest'

import { byRegistration, unhealthy, type Installation } from './types'

const installed = (name: string, ...conditions: [string, string][]) =>
  ({
    spec: { registrationRef: { name }, seedRef: { name: 'eu-1' } },
    status: { conditions: conditions.map(([type, status]) => ({ type, status })) },
  }) as Installation

test('only a condition that should be true makes an extension unhealthy', () => {
  expect(unhealthy(installed('a', ['Healthy', 'True'], ['Progressing', 'False'], ['Required', 'False']))).toBe(false)
  expect(unhealthy(installed('a', ['Healthy', 'Unknown']))).toBe(false)
  expect(unhealthy(installed('a', ['Installed', 'False']))).toBe(true)
  expect(unhealthy({ ...installed('a'), status: {} })).toBe(false)
})

test('installations are found by their extension', () => {
  const all = byRegistration([installed('a'), installed('b'), installed('a')])
  expect([...all].map(([name, of]) => [name, of.length])).toEqual([
    ['a', 2],
    ['b', 1],
  ])
})

// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest'

import { rank, score, type Offer } from '@/shell/palette'

import { compare, fitting, type Column } from './table'
import { parseDuration, shortSpan, span } from './time'

describe('span', () => {
  it.each([
    [0, '0s'],
    [250, '250ms'],
    [1_000, '1s'],
    [1_900, '1.9s'],
    [61_000, '1m 1s'],
    [3_600_000, '1h'],
    [3_661_000, '1h 1m'],
    [90_061_000, '1d 1h'],
    [40 * 86_400_000 + 3_600_000, '40d'],
    [-5, '0s'],
  ])('%i is %s', (ms, want) => expect(span(ms)).toBe(want))
  it('has one unit in tables', () =>
    expect([shortSpan(59_000), shortSpan(7_300_000), shortSpan(0)]).toEqual(['59s', '2h', '0s']))
})

describe('parseDuration', () => {
  it.each([
    ['1.5s', 1500],
    ['1m2s', 62_000],
    ['250ms', 250],
    ['1h0m0.5s', 3_600_500],
    ['15µs', 0.015],
    [undefined, 0],
  ])('%s is %d', (text, want) => expect(parseDuration(text)).toBeCloseTo(want, 6))
})

describe('table', () => {
  const column = (id: string, min: number, priority: number): Column => ({ id, label: id, min, priority })
  const columns = [column('a', 100, 0), column('b', 100, 5), column('c', 100, 1)]
  it('drops the least important columns first', () => {
    expect(fitting(columns, 1000, 10).map((c) => c.id)).toEqual(['a', 'b', 'c'])
    expect(fitting(columns, 300, 10).map((c) => c.id)).toEqual(['a', 'c'])
    expect(fitting(columns, 50, 10).map((c) => c.id)).toEqual(['a'])
  })
  it('sorts numbers in texts as numbers, and what is missing last', () => {
    expect(['a10', undefined, 'a9', 'B1'].sort(compare)).toEqual(['a9', 'a10', 'B1', undefined])
    expect(compare(undefined, 'a')).toBe(1)
  })
})

describe('palette', () => {
  const offer = (label: string, group: Offer['group']): Offer => ({ id: label, label, group, run: () => {} })
  it('likes a beginning better than a part, and a part better than letters', () => {
    const points = ['web', 'web-2', 'my-web', 'cobweb', 'w-e-b', 'shop'].map((x) => score(x, 'web'))
    expect(points).toEqual([...points].sort((a, b) => b - a))
    expect(points.at(-1)).toBe(0)
  })
  it('keeps groups together, the one with the best offer first', () => {
    const offers = [offer('Projects', 'pages'), offer('pro', 'shoots'), offer('prometheus', 'shoots')]
    expect(rank(offers, 'pro').map((o) => o.label)).toEqual(['pro', 'prometheus', 'Projects'])
  })
})

// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest'

import { compareTexts } from './diff'
import { editable, fromText, toText } from './document'
import { changes, mergeOnto } from './merge'
import { at, placeOf, type Schemas } from './schema'

describe('mergeOnto', () => {
  const base = { spec: { version: '1', region: 'a', workers: [1] }, metadata: { labels: { x: '1' } } }

  it('repeats my changes on theirs', () => {
    const mine = { spec: { version: '2', region: 'a', workers: [1] }, metadata: { labels: {} } }
    const theirs = { spec: { version: '1', region: 'b', workers: [1, 2] }, metadata: { labels: { x: '1', y: '2' } } }
    expect(mergeOnto<unknown>(base, mine, theirs)).toEqual({
      object: { spec: { version: '2', region: 'b', workers: [1, 2] }, metadata: { labels: { y: '2' } } },
      clashes: [],
    })
  })
  it('names the fields that both have changed', () => {
    const mine = { ...base, spec: { ...base.spec, version: '2' } }
    const theirs = { ...base, spec: { ...base.spec, version: '3' } }
    expect(mergeOnto(base, mine, theirs)).toEqual({ object: mine, clashes: ['spec.version'] })
  })
  it('sees no clash where both have done the same', () => {
    const both = { ...base, spec: { ...base.spec, version: '2' } }
    expect(mergeOnto(base, both, both).clashes).toEqual([])
  })
  it('knows that a removed parent holds a changed child', () => {
    const mine = { spec: base.spec } as typeof base
    const theirs = { ...base, metadata: { labels: { x: '9' } } }
    expect(mergeOnto(base, mine, theirs).clashes).toEqual(['metadata'])
  })
  it('finds nothing between equal objects', () => expect(changes(base, structuredClone(base))).toEqual([]))
})

describe('compareTexts', () => {
  it('numbers lines and leaves equal ones out', () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n') + '\n'
    const lines = compareTexts(before, before.replace('line 10', 'other'), 1)
    expect(lines.map((l) => `${l.kind} ${l.text}`)).toEqual([
      'gap 9',
      'same line 9',
      'removed line 10',
      'added other',
      'same line 11',
      'gap 8',
    ])
    expect(lines[2]!.old).toBe(11)
  })
  it('has no line where nothing changes', () => expect(compareTexts('a\n', 'a\n')).toEqual([]))
})

describe('text', () => {
  it('goes there and back without loss', () => {
    const object = {
      a: 'true',
      b: '1.10',
      c: null,
      d: [{ e: 'x: y', f: '# no comment' }],
      g: 'two\nlines\n',
      h: '0755',
      i: 1e21,
    }
    expect(fromText(toText(object)).object).toEqual(object)
  })
  it('says where a mistake is', () => {
    const { object, mistakes } = fromText('a: 1\nb: [1\n')
    expect(object).toBeUndefined()
    expect(mistakes[0]!.from).toBeGreaterThan(4)
  })
  it('refuses what is not an object', () => expect(fromText('- a').mistakes).toHaveLength(1))
  it('leaves out what only the server writes', () => {
    const object = {
      metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '', managedFields: [] },
      spec: {},
      status: {},
    }
    expect(editable(object)).toEqual({
      metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
      spec: {},
    })
  })
})

describe('schema', () => {
  const lines = [
    'apiVersion: v1',
    'spec:',
    '  provider:',
    '    workers:',
    '    - name: a',
    '      machine:',
    '        ',
    '  region: x',
    '  pur',
  ]
  it.each([
    [6, ['spec', 'provider', 'workers', 'machine']],
    [8, ['spec']],
    [3, ['spec', 'provider']],
  ])('finds the place of line %i', (row, path) => expect(placeOf(lines, row).path).toEqual(path))
  it('knows that a value is being written', () => expect(placeOf(lines, 7)).toEqual({ path: ['spec'], key: 'region' }))

  it('follows references, lists and maps', () => {
    const all: Schemas = {
      Spec: {
        properties: {
          workers: { items: { allOf: [{ $ref: '#/components/schemas/Worker' }] } },
          labels: { additionalProperties: { type: 'string' } },
        },
      },
      Worker: { properties: { name: { type: 'string' } } },
    }
    const root = { properties: { spec: { $ref: '#/components/schemas/Spec' } } }
    expect(Object.keys(at(root, ['spec', 'workers'], all)!.properties!)).toEqual(['name'])
    expect(at(root, ['spec', 'labels', 'any'], all)).toEqual({ type: 'string' })
    expect(at(root, ['nothing'], all)).toBeUndefined()
  })
})

// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it, test } from 'vitest'

import { sentence } from './doctor'
import { findings, type Look } from './findings'

const look = (change: Partial<Look>): Look => ({
  seeds: [],
  shoots: [],
  projects: 1,
  profiles: 1,
  firstNamespace: undefined,
  canListShoots: false,
  status: {
    certificates: [{ name: 'serving', notAfter: '', daysLeft: 3 }],
    units: [{ name: 'datastore', ready: false }],
  },
  ...change,
})
const down = {
  metadata: { name: 'eu-1', uid: '1', resourceVersion: '1', creationTimestamp: '' },
  spec: {},
  status: { conditions: [{ type: 'GardenletReady', status: 'Unknown', message: 'silent' }] },
} as unknown as Look['seeds'][number]

describe('findings', () => {
  it('are those of the page where there is no diagnosis', () => {
    expect(findings(look({})).map((f) => f.id)).toEqual(['unit-datastore', 'certificate-serving'])
  })

  it('are those of the server with what to do, the worst first, and each once', () => {
    const found = findings(
      look({
        seeds: [down],
        diagnosis: {
          time: '',
          findings: [
            {
              id: 'seed-not-ready',
              severity: 'warning',
              object: { kind: 'Seed', name: 'eu-1' },
              what: 'Silent',
              do: 'Look.',
            },
            {
              id: 'disk-full',
              severity: 'critical',
              what: 'The disk is full',
              why: 'Nothing is stored.',
              do: 'Make room.',
            },
            { id: 'clock', severity: 'info', what: 'Only to know' },
          ],
        },
      }),
    )
    expect(found.map(({ title, fix }) => [title, fix])).toEqual([
      ['The disk is full', 'Make room.'],
      ['Silent', 'Look.'],
    ])
    expect(found[1]!.to).toEqual({ name: 'seed', params: { name: 'eu-1' } })
  })

  it('has what only the page knows beside them', () => {
    const found = findings(look({ seeds: [down], diagnosis: { time: '', findings: [] } }))
    expect(found.map((f) => f.id)).toEqual(['seed-eu-1'])
  })
})

test('parts of sentences become sentences, and commands stay commands', () =>
  expect(['it is old', 'terrarium snapshot save', 'kubectl get x'].map(sentence)).toEqual([
    'It is old',
    'terrarium snapshot save',
    'kubectl get x',
  ]))

// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest'

import { t } from '@/text/en'

import { explainCode } from './codes'
import { issueSince, stateLabel, stateOf, conditionTone } from './state'
import { shootFixture } from './testing'
import { compareVersions, expiryOf, updates, type CloudProfile } from './versions'
import { readWindow, windowMinutes, writeWindow } from './maintenance'
import { nextStep } from './rotation'

describe('stateOf', () => {
  it.each([
    ['nothing has happened', shootFixture({ state: '' }), 'pending', t.shootState.pending],
    ['succeeded', shootFixture({}), 'healthy', t.shootState.healthy],
    [
      'a condition is false',
      shootFixture({ conditions: [{ type: 'A', status: 'False' }] }),
      'unhealthy',
      t.shootState.unhealthy,
    ],
    [
      'a condition is unknown',
      shootFixture({ conditions: [{ type: 'A', status: 'Unknown' }] }),
      'healthy',
      t.shootState.healthy,
    ],
    ['running', shootFixture({ state: 'Processing', type: 'Create' }), 'working', t.operation.doing.Create],
    [
      'an error that is tried again',
      shootFixture({ state: 'Error', type: 'Delete' }),
      'error',
      t.operation.retrying.Delete,
    ],
    ['given up', shootFixture({ state: 'Failed' }), 'error', t.operation.failed.Reconcile],
    [
      'asleep, whatever its conditions',
      shootFixture({ hibernated: true, conditions: [{ type: 'A', status: 'False' }] }),
      'hibernated',
      t.shootState.hibernated,
    ],
  ] as const)('%s', (_, shoot, state, label) => {
    expect(stateOf(shoot)).toBe(state)
    expect(stateLabel(shoot)).toBe(label)
  })

  it('names the oldest trouble', () => {
    expect(issueSince(shootFixture({}))).toBeUndefined()
    expect(issueSince(shootFixture({ state: 'Error', conditions: [{ type: 'A', status: 'False' }] }))).toBe(
      '2026-01-01T12:00:00Z',
    )
  })
})

describe('explainCode', () => {
  it('explains every code of the API', () => {
    for (const code of Object.keys(t.codes)) expect(explainCode(code).meaning.length).toBeGreaterThan(40)
  })
  it('shows an unknown code as it is', () => expect(explainCode('ERR_NEW').title).toBe('ERR_NEW'))
})

describe('versions', () => {
  const now = Date.parse('2026-06-01T00:00:00Z')
  const profile = {
    spec: {
      kubernetes: {
        versions: [
          { version: '1.37.0' },
          { version: '1.36.3' },
          { version: '1.36.1', classification: 'deprecated', expirationDate: '2026-06-10T00:00:00Z' },
          { version: '1.35.9', expirationDate: '2026-05-01T00:00:00Z' },
          { version: '1.38.0' },
        ],
      },
    },
  } as unknown as CloudProfile

  it('orders numbers as numbers and pre-releases before releases', () => {
    expect(['1.10.0', '1.9.0', '1.9.0-rc.1', '1.9.1'].sort(compareVersions)).toEqual([
      '1.9.0-rc.1',
      '1.9.0',
      '1.9.1',
      '1.10.0',
    ])
  })
  it('says when a version expires', () => {
    expect(expiryOf('1.36.3', profile, now).state).toBe('fine')
    expect(expiryOf('1.36.1', profile, now)).toMatchObject({ state: 'soon', classification: 'deprecated' })
    expect(expiryOf('1.35.9', profile, now).state).toBe('expired')
    expect(expiryOf('1.0.0', profile, now).state).toBe('unknown')
  })
  it('offers newer patches and the next minor version', () => {
    expect(updates('1.36.1', profile.spec.kubernetes!.versions!, now)).toEqual(['1.37.0', '1.36.3'])
  })
})

describe('maintenance window', () => {
  it('is read and written without a change', () => {
    const window = { begin: '220000+0100', end: '230000+0100' }
    expect(writeWindow(readWindow(window))).toEqual(window)
  })
  it('shows both ends in one zone', () => {
    expect(readWindow({ begin: '220000+0100', end: '220000+0000' })).toEqual({
      begin: '22:00',
      end: '23:00',
      zone: '+0100',
    })
  })
  it('may go over midnight', () => expect(windowMinutes({ begin: '23:30', end: '00:30', zone: '+0000' })).toBe(60))
})

describe('rotation', () => {
  const ca = (phase?: string) => ({
    id: 'ca',
    label: '',
    start: 'rotate-ca-start',
    complete: 'rotate-ca-complete',
    rotation: phase ? { phase } : undefined,
  })
  it.each([
    [undefined, 'rotate-ca-start'],
    ['Completed', 'rotate-ca-start'],
    ['Prepared', 'rotate-ca-complete'],
    ['Preparing', undefined],
    ['Completing', undefined],
  ])('after %s comes %s', (phase, operation) => expect(nextStep(ca(phase))?.operation).toBe(operation))
})

it.each([
  ['Healthy', 'True', 'ok'],
  ['Healthy', 'False', 'bad'],
  ['Progressing', 'False', 'ok'],
  ['Progressing', 'True', 'busy'],
  ['Required', 'False', 'off'],
  ['EmergencyStopShootReconciliations', 'True', 'bad'],
] as const)('condition %s with status %s is %s', (type, status, want) =>
  expect(conditionTone({ type, status })).toBe(want),
)

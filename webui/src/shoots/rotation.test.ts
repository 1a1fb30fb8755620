// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest'

import { allStep, nextStep, rotatables } from './rotation'
import { shootFixture } from './testing'

function withPhases(...phases: (string | undefined)[]) {
  const shoot = shootFixture({})
  const kinds = ['certificateAuthorities', 'serviceAccountKey', 'etcdEncryptionKey']
  const rotation = Object.fromEntries(kinds.flatMap((k, i) => (phases[i] ? [[k, { phase: phases[i] }]] : [])))
  return rotatables({ ...shoot, status: { ...shoot.status, credentials: { rotation } } })
}

it.each([
  ['nothing was ever rotated', [], 'rotate-credentials-start'],
  ['all is complete', ['Completed', 'Completed', 'Completed'], 'rotate-credentials-start'],
  ['one kind has begun', ['Preparing'], undefined],
  ['the key of etcd has begun', ['Completed', 'Completed', 'Preparing'], undefined],
  ['machines are still replaced', ['WaitingForWorkersRollout', 'Prepared'], undefined],
  ['people have changed over', ['Prepared', 'Prepared', 'Completed'], 'rotate-credentials-complete'],
  ['the first is being completed', ['Completing', 'Prepared'], undefined],
])('all at once, if %s', (_, phases, want) => expect(allStep(withPhases(...phases))?.operation).toBe(want))

it('one kind is started, waited for and completed', () => {
  const steps = [undefined, 'Preparing', 'Prepared', 'Completing', 'Completed'].map(
    (phase) => nextStep(withPhases(phase)[0]!)?.operation,
  )
  expect(steps).toEqual(['rotate-ca-start', undefined, 'rotate-ca-complete', undefined, 'rotate-ca-start'])
})

// SPDX-License-Identifier: Apache-2.0

import type { AuthorityRotation } from './pki'

/** The steps of a change of the authorities, in their order. */
export type StepName = 'trusted' | 'taken' | 'removed'

export interface Step {
  name: StepName
  state: 'done' | 'now' | 'later'
}

/** How far a change of the authorities is. Once all gardenlets have taken up the next ones, it waits for people. */
export function stepsOf(is: AuthorityRotation): Step[] {
  const removing = is.phase === 'completing'
  const trusted = removing || Boolean(is.saved)
  const taken = removing || (trusted && is.phase === 'prepared')
  return [
    { name: 'trusted', state: trusted ? 'done' : 'now' },
    { name: 'taken', state: taken ? 'done' : trusted ? 'now' : 'later' },
    { name: 'removed', state: removing ? 'now' : 'later' },
  ]
}

/** What can be done next: nothing while the former authorities are being removed. */
export function nextPhase(is: AuthorityRotation | undefined): 'start' | 'complete' | undefined {
  if (!is) return 'start'
  return is.phase === 'completing' ? undefined : 'complete'
}

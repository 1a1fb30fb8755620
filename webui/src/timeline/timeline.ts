// SPDX-License-Identifier: Apache-2.0

import { toValue, type MaybeRefOrGetter } from 'vue'

import { useLive } from '@/kube/live'
import { timelines } from '@/kube/resources'

import type { TimelineEntry } from './types'

const most = 5_000

/** The timeline of an object. Entries of objects without a namespace are in the namespace garden. */
export function useTimeline(
  kind: string,
  name: MaybeRefOrGetter<string>,
  namespace: MaybeRefOrGetter<string> = 'garden',
) {
  return useLive<TimelineEntry>(
    timelines,
    () => ({ namespace: toValue(namespace), fieldSelector: `subject.kind=${kind},subject.name=${toValue(name)}` }),
    { limit: most },
  )
}

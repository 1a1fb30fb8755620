// SPDX-License-Identifier: Apache-2.0

import type { MaybeRefOrGetter } from 'vue'

import type { Selection } from '@/kube/client'
import { useLive } from '@/kube/live'
import { shoots } from '@/kube/resources'
import type { Fields } from '@/kube/types'

import type { Shoot } from './types'

// What tables, searches and counts use. The rest is most of a cluster.
const fields: Fields = {
  metadata: {
    creationTimestamp: true,
    deletionTimestamp: true,
    labels: true,
    annotations: { 'gardener.cloud/created-by': true },
  },
  spec: {
    purpose: true,
    region: true,
    seedName: true,
    cloudProfileName: true,
    cloudProfile: true,
    kubernetes: { version: true },
    provider: { type: true, workers: { name: true, maximum: true } },
    hibernation: { enabled: true },
  },
  status: {
    conditions: { type: true, status: true, reason: true, message: true, codes: true, lastTransitionTime: true },
    lastErrors: true,
    lastOperation: true,
    hibernated: true,
    seedName: true,
  },
}

/** Clusters for a list, which stay current. They have the fields of lists alone. */
export function useShoots(selection: MaybeRefOrGetter<Selection | undefined>) {
  return useLive<Shoot>(shoots, selection, { fields })
}

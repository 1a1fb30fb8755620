// SPDX-License-Identifier: Apache-2.0

import type { Condition, KubeObject } from '@/kube/types'

/** A user, group or service account. */
export interface Subject {
  kind: 'User' | 'Group' | 'ServiceAccount'
  name: string
  namespace?: string
  apiGroup?: string
}

export interface Member extends Subject {
  role: string
  roles?: string[]
}

/** A Project, as far as the pages use it. */
export interface Project extends KubeObject {
  spec: {
    namespace?: string
    description?: string
    purpose?: string
    owner?: Subject
    createdBy?: Subject
    members?: Member[]
  }
  status?: {
    phase?: string
    conditions?: Condition[]
    lastActivityTimestamp?: string
    staleSinceTimestamp?: string
    staleAutoDeleteTimestamp?: string
  }
}

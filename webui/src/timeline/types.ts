// SPDX-License-Identifier: Apache-2.0

import type { Condition, KubeObject, LastError, LastOperation } from '@/kube/types'

export type EntryType = 'Request' | 'Operation' | 'Condition' | 'Errors' | 'Task' | 'Removed'

/** A task of a flow that ended. Durations are those of Go, such as 1.5s. */
export interface TimelineTask {
  flow: string
  id: string
  title?: string
  waiting?: string
  duration: string
  error?: string
  /** The ids of the tasks that had to be done before. */
  after?: string[]
}

/** One thing that happened to an object. */
export interface TimelineEntry extends KubeObject {
  time: string
  subject: { kind: string; namespace?: string; name: string; uid?: string }
  type: EntryType
  user?: string
  requestedBy?: string
  request?: { verb: 'Create' | 'Update' | 'Delete'; fields?: string[]; generation?: number }
  operation?: {
    type: LastOperation['type']
    state: LastOperation['state']
    from?: string
    progress: number
    description?: string
  }
  /** The status of a condition that was removed is empty. */
  condition?: { type: string; status: Condition['status'] | ''; from?: string; reason?: string; message?: string }
  lastErrors?: LastError[]
  task?: TimelineTask
}

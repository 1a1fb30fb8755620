// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '@/kube/types'

/** A snapshot of the garden. The numbers are in the answer for one snapshot, and not in lists. */
export interface Snapshot extends KubeObject {
  status: {
    time: string
    bytes: number
    destination: string
    revision: number
    objects?: number
    events?: number
    version?: string
    clusterIdentity?: string
    /** What was saved between this snapshot and the next one. */
    increments?: { count: number; bytes: number; until?: string; gap?: boolean }
    /** The last verification since the server has started. */
    verification?: Verification
  }
}

/** What became of reading a snapshot and its increments again. */
export interface Verification {
  state: 'Running' | 'Succeeded' | 'Failed'
  startTime: string
  completionTime?: string
  files?: number
  checksumsOnly?: boolean
  message?: string
}

/** The section of the server's configuration, with its defaults. */
export interface SnapshotSettings {
  disabled?: boolean
  interval?: string
  incrementInterval?: string
  window?: string
  keep?: number
}

/** What the pages need of the configuration of the server. */
export interface Configuration {
  dataDir?: string
  datastore?: { url?: string }
  snapshots?: SnapshotSettings
}

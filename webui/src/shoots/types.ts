// SPDX-License-Identifier: Apache-2.0

import type { Condition, KubeObject, LastError, LastOperation } from '@/kube/types'

export interface Worker {
  name: string
  machine: { type: string; architecture?: string; image?: { name?: string; version?: string } }
  minimum: number
  maximum: number
  maxSurge?: number | string
  maxUnavailable?: number | string
  zones?: string[]
  volume?: { type?: string; size?: string }
  kubernetes?: { version?: string }
  cri?: { name?: string }
  labels?: Record<string, string>
  taints?: { key: string; value?: string; effect: string }[]
}

export interface HibernationSchedule {
  start?: string
  end?: string
  location?: string
}

/** When something was rotated last. */
export interface Rotation {
  phase?: string
  lastInitiationTime?: string
  lastCompletionTime?: string
}

/** A Shoot, as far as the pages use it. */
export interface Shoot extends KubeObject {
  spec: {
    purpose?: string
    region: string
    seedName?: string
    cloudProfileName?: string
    cloudProfile?: { kind?: string; name: string }
    credentialsBindingName?: string
    secretBindingName?: string
    kubernetes: { version: string }
    networking?: { type?: string; pods?: string; services?: string; nodes?: string }
    provider: { type: string; workers?: Worker[]; [key: string]: unknown }
    hibernation?: { enabled?: boolean; schedules?: HibernationSchedule[] }
    maintenance?: {
      autoUpdate?: { kubernetesVersion?: boolean; machineImageVersion?: boolean }
      timeWindow?: { begin: string; end: string }
      confineSpecUpdateRollout?: boolean
    }
    controlPlane?: { highAvailability?: { failureTolerance?: { type?: string } } }
    addons?: unknown
    [key: string]: unknown
  }
  status?: {
    conditions?: Condition[]
    constraints?: Condition[]
    lastErrors?: LastError[]
    lastOperation?: LastOperation
    gardener?: { name?: string; version?: string }
    hibernated?: boolean
    seedName?: string
    technicalID?: string
    clusterIdentity?: string
    uid?: string
    observedGeneration?: number
    advertisedAddresses?: { name: string; url: string }[]
    lastMaintenance?: { description?: string; triggeredTime?: string; state?: string; failureReason?: string }
    credentials?: { rotation?: Record<string, Rotation | undefined> }
    [key: string]: unknown
  }
}

// SPDX-License-Identifier: Apache-2.0

import type { Condition, KubeObject, LastOperation } from '@/kube/types'

/** A Seed, as far as the pages use it. */
export interface Seed extends KubeObject {
  spec: {
    provider: { type: string; region: string; zones?: string[] }
    networks?: { pods?: string; services?: string; nodes?: string }
    ingress?: { domain?: string }
    backup?: { provider?: string; region?: string }
    taints?: { key: string; value?: string }[]
    settings?: { scheduling?: { visible?: boolean } }
    dns?: { internal?: { domain?: string }; provider?: { type?: string } }
  }
  status?: {
    conditions?: Condition[]
    lastOperation?: LastOperation
    gardener?: { name?: string; version?: string }
    kubernetesVersion?: string
    clusterIdentity?: string
    clientCertificateExpirationTimestamp?: string
    allocatable?: Record<string, string>
    capacity?: Record<string, string>
  }
}

/** The lease that a gardenlet renews. */
export interface Lease extends KubeObject {
  spec?: { renewTime?: string; leaseDurationSeconds?: number }
}

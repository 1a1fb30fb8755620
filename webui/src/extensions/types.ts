// SPDX-License-Identifier: Apache-2.0

import type { Condition, KubeObject } from '@/kube/types'

/** A ControllerRegistration, as far as the pages use it. */
export interface Registration extends KubeObject {
  spec: {
    resources?: { kind: string; type: string; primary?: boolean }[]
    deployment?: { policy?: string }
  }
}

/** A ControllerInstallation: an extension on a seed. */
export interface Installation extends KubeObject {
  spec: { registrationRef: { name: string }; seedRef: { name: string } }
  status?: { conditions?: Condition[] }
}

/** Whether a condition says that something is wrong. One that an extension is not required, or not progressing, says nothing bad. */
export function unhealthy(installation: Installation): boolean {
  return (installation.status?.conditions ?? []).some(
    (c) => c.status === 'False' && c.type !== 'Required' && c.type !== 'Progressing',
  )
}

/** The installations by the name of their extension. */
export function byRegistration(all: Installation[]): Map<string, Installation[]> {
  const found = new Map<string, Installation[]>()
  for (const i of all) found.set(i.spec.registrationRef.name, [...(found.get(i.spec.registrationRef.name) ?? []), i])
  return found
}

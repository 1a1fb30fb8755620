// SPDX-License-Identifier: Apache-2.0

import { createSub } from '@/kube/client'
import { shoots } from '@/kube/resources'

import type { Shoot } from './types'

export type Access = 'admin' | 'viewer'

/** A kubeconfig and the moment at which it stops to work. */
export interface Kubeconfig {
  text: string
  expires: string
}

/** Asks the garden for a kubeconfig of a cluster, valid for a time. */
export async function requestKubeconfig(shoot: Shoot, access: Access, seconds: number): Promise<Kubeconfig> {
  const kind = access === 'admin' ? 'AdminKubeconfigRequest' : 'ViewerKubeconfigRequest'
  const { namespace, name } = shoot.metadata
  const answer = await createSub<{ status: { kubeconfig: string; expirationTimestamp: string } }>(
    shoots,
    { namespace, name },
    `${access}kubeconfig`,
    {
      apiVersion: 'authentication.gardener.cloud/v1alpha1',
      kind,
      spec: { expirationSeconds: seconds },
    },
  )
  const bytes = Uint8Array.from(atob(answer.status.kubeconfig), (c) => c.charCodeAt(0))
  return { text: new TextDecoder().decode(bytes), expires: answer.status.expirationTimestamp }
}

/** A file name that says what the kubeconfig opens. */
export function fileName(project: string, shoot: string, access: Access): string {
  return `kubeconfig--${project}--${shoot}${access === 'viewer' ? '--viewer' : ''}.yaml`
}

// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '@/kube/types'

export interface Version {
  version: string
  classification?: string
  expirationDate?: string
}

/** A CloudProfile, as far as the pages use it. */
export interface CloudProfile extends KubeObject {
  spec: {
    type: string
    kubernetes: { versions?: Version[] }
    machineImages?: { name: string; versions: (Version & { architectures?: string[] })[] }[]
    machineTypes?: { name: string; cpu: string; gpu: string; memory: string; architecture?: string; usable?: boolean }[]
    volumeTypes?: { name: string; class: string; usable?: boolean }[]
    regions?: { name: string; zones?: { name: string }[] }[]
  }
}

/** The newest versions first. */
export function newestFirst<T extends Version>(versions: T[] | undefined): T[] {
  return [...(versions ?? [])].sort((a, b) => -order.compare(a.version, b.version))
}

const order = new Intl.Collator('en', { numeric: true })

/** The newest version that is neither a preview nor expired. */
export function newest(profile: CloudProfile, now = Date.now()): string | undefined {
  return newestFirst(profile.spec.kubernetes.versions).find(
    (v) => v.classification !== 'preview' && !(v.expirationDate && Date.parse(v.expirationDate) <= now),
  )?.version
}

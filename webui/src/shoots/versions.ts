// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '@/kube/types'

/** A version that a profile offers. */
export interface OfferedVersion {
  version: string
  classification?: string
  expirationDate?: string
  lifecycle?: { classification: string; startTime?: string }[]
}

/** A CloudProfile or NamespacedCloudProfile, as far as the pages use it. */
export interface CloudProfile extends KubeObject {
  spec: CloudProfileSpec
  status?: { cloudProfileSpec?: CloudProfileSpec }
}

export interface CloudProfileSpec {
  type: string
  parent?: { kind: string; name: string }
  kubernetes?: { versions?: OfferedVersion[] }
  machineImages?: {
    name: string
    updateStrategy?: string
    versions: (OfferedVersion & { architectures?: string[]; cri?: { name: string }[] })[]
  }[]
  machineTypes?: { name: string; cpu: string; gpu?: string; memory: string; usable?: boolean; architecture?: string }[]
  volumeTypes?: { name: string; class?: string; usable?: boolean }[]
  regions?: { name: string; zones?: { name: string }[] }[]
  seedSelector?: unknown
  providerConfig?: unknown
  [key: string]: unknown
}

/** The parts of a profile as they are in force: those of a namespaced one include its parent's. */
export function effective(profile: CloudProfile): CloudProfileSpec {
  return profile.status?.cloudProfileSpec ?? profile.spec
}

/** Compares versions of three numbers; what follows a hyphen comes before the version itself. */
export function compareVersions(a: string, b: string): number {
  const [coreA = '', preA] = a.split('-', 2)
  const [coreB = '', preB] = b.split('-', 2)
  const x = coreA.split('.').map(Number)
  const y = coreB.split('.').map(Number)
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const d = (x[i] ?? 0) - (y[i] ?? 0)
    if (d !== 0) return d
  }
  if (preA === preB) return 0
  if (preA === undefined) return 1
  if (preB === undefined) return -1
  return preA < preB ? -1 : 1
}

/** Which versions a cluster may be updated to: newer patches, and the next minor version. */
export function updates(current: string, offered: OfferedVersion[], now: number): string[] {
  const [major = 0, minor = 0] = current.split('.').map(Number)
  return offered
    .filter((o) => !expired(o, now) && compareVersions(o.version, current) > 0)
    .map((o) => o.version)
    .filter((v) => {
      const [vMajor = 0, vMinor = 0] = v.split('.').map(Number)
      return vMajor === major && (vMinor === minor || vMinor === minor + 1)
    })
    .sort((a, b) => compareVersions(b, a))
}

export function expired(v: OfferedVersion, now: number): boolean {
  return v.expirationDate !== undefined && Date.parse(v.expirationDate) <= now
}

/** When a version expires, and whether it is deprecated or only previewed. */
export interface Expiry {
  at?: number
  classification?: string
  state: 'fine' | 'soon' | 'expired' | 'unknown'
}

const soon = 30 * 86_400_000

/** Looks a version up in a profile. */
export function expiryOf(version: string, profile: CloudProfile | undefined, now: number): Expiry {
  const found = profile && effective(profile).kubernetes?.versions?.find((v) => v.version === version)
  if (!found) return { state: 'unknown' }
  const at = found.expirationDate ? Date.parse(found.expirationDate) : undefined
  const classification = found.classification
  if (at === undefined) return { state: 'fine', ...(classification ? { classification } : {}) }
  const state = at <= now ? 'expired' : at - now < soon ? 'soon' : 'fine'
  return { at, state, ...(classification ? { classification } : {}) }
}

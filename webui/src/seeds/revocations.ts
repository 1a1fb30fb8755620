// SPDX-License-Identifier: Apache-2.0

import { computed, type ComputedRef } from 'vue'

import { sendJSON } from '@/kube/http'
import { usePolledBy } from '@/kube/polled'
import { session } from '@/session/session'

/** An object that a seed can read, or could. */
export interface Exposed {
  kind: string
  namespace?: string
  name: string
}

/** What the garden knows about a seed that is shut out, or was. */
export interface Revocation {
  seed: string
  revoked: boolean
  reason?: string
  by?: string
  at?: string
  /** Credentials from before are refused. */
  credentialsFrom?: string
  /** The number of requests that have not ended yet. */
  open?: number
  /** In the answer for one seed. */
  exposed?: Exposed[]
}

const base = '/kube/appliance/revocations'
const of = (seed: string) => `${base}/${encodeURIComponent(seed)}`

/** Shuts a seed out of the garden. */
export const revoke = (seed: string, reason: string): Promise<Revocation> =>
  sendJSON(of(seed), { method: 'POST', body: JSON.stringify({ reason }) })

/** Takes that back. With new credentials, the seed has to join again. */
export const forgive = (seed: string, newCredentials: boolean): Promise<Revocation> =>
  sendJSON(of(seed) + (newCredentials ? '?credentials=new' : ''), { method: 'DELETE' })

/** Reads what a seed can read, or could. */
export const exposure = async (seed: string): Promise<Exposed[]> => (await sendJSON<Revocation>(of(seed))).exposed ?? []

/** The seeds that are shut out or were, for administrators; for others the map is empty. */
export function useRevocations(): { bySeed: ComputedRef<Map<string, Revocation>>; refresh: () => Promise<void> } {
  if (!session.value?.admin) return { bySeed: computed(() => new Map()), refresh: () => Promise.resolve() }
  const known = usePolledBy(async () => (await sendJSON<{ items: Revocation[] }>(base)).items, 10_000)
  return { bySeed: computed(() => new Map(known.items.value.map((r) => [r.seed, r]))), refresh: known.refresh }
}

/** A group of objects of one kind. */
export interface ExposedKind {
  kind: string
  /** Whether objects of the kind contain credentials, which have to be rotated. */
  secret: boolean
  objects: Exposed[]
}

const secretKinds = new Set(['Secret', 'InternalSecret', 'ShootState', 'WorkloadIdentity'])

/** The objects by kind, in the order of the server: those with credentials first. */
export function byKind(all: Exposed[]): ExposedKind[] {
  const kinds = new Map<string, Exposed[]>()
  for (const x of all) kinds.set(x.kind, [...(kinds.get(x.kind) ?? []), x])
  return [...kinds].map(([kind, objects]) => ({ kind, secret: secretKinds.has(kind), objects }))
}

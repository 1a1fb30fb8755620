// SPDX-License-Identifier: Apache-2.0

import { onScopeDispose, shallowRef } from 'vue'
import type { RouteLocationRaw } from 'vue-router'

import { asRequestError } from '@/kube/errors'
import { sendJSON } from '@/kube/http'

import type { Finding } from './findings'

/** What the server finds when it examines itself: what is wrong, why that matters, and what to do about it. */
export interface Diagnosis {
  time: string
  findings?: {
    id: string
    severity: 'critical' | 'warning' | 'info'
    object?: { kind: string; namespace?: string; name: string }
    what: string
    why?: string
    do?: string
  }[]
}

const period = 30_000

/** Asks for the diagnosis every half minute while the page is visible. It is undefined for users who may not read it. */
export function useDoctor(asked: () => boolean) {
  const diagnosis = shallowRef<Diagnosis>()
  const known = shallowRef(false)
  let hopeless = !asked()
  async function look(): Promise<void> {
    try {
      diagnosis.value = await sendJSON<Diagnosis>('/kube/appliance/doctor')
    } catch (thrown) {
      const { kind } = asRequestError(thrown)
      hopeless = kind === 'forbidden' || kind === 'missing'
    }
    known.value = true
  }
  if (hopeless) known.value = true
  else void look()
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible' && !hopeless) void look()
  }, period)
  onScopeDispose(() => clearInterval(timer))
  return { diagnosis, known }
}

/** The findings as Home shows them. */
export function diagnosed(diagnosis: Diagnosis): Finding[] {
  return (diagnosis.findings ?? [])
    .filter((f) => f.severity !== 'info')
    .map((f) => {
      const to = pageOf(f.object) ?? pageFor(f.id)
      return {
        id: ['doctor', f.id, f.object?.kind, f.object?.namespace, f.object?.name].join('/'),
        tone: f.severity === 'critical' ? 'bad' : 'warn',
        title: f.what,
        ...(f.why ? { text: sentence(f.why) } : {}),
        ...(f.do ? { fix: sentence(f.do) } : {}),
        ...(to ? { to } : {}),
      }
    })
}

/** The server writes parts of sentences, for terminals; a command at the beginning stays as it is. */
export function sentence(text: string): string {
  return /^(terrarium|kubectl)\b/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)
}

/** The page for findings that are not about an object. */
function pageFor(id: string): RouteLocationRaw | undefined {
  const tab = id.startsWith('backup-') ? 'snapshots' : /^(store|unit)-/.test(id) ? '' : undefined
  return tab === undefined ? undefined : { name: 'operations', params: { tab } }
}

function pageOf(object: { kind: string; namespace?: string; name: string } | undefined): RouteLocationRaw | undefined {
  switch (object?.kind) {
    case 'Seed':
      return { name: 'seed', params: { name: object.name } }
    case 'Shoot':
      return { name: 'shoot', params: { namespace: object.namespace ?? '', name: object.name } }
    case 'Project':
      return { name: 'projects' }
    case 'Certificate':
      return { name: 'operations', params: { tab: 'certificates' } }
    default:
      return undefined
  }
}

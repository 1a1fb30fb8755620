// SPDX-License-Identifier: Apache-2.0

import { onScopeDispose, shallowRef } from 'vue'

import type { Tone } from '@/design/tone'
import { asRequestError, type RequestError } from '@/kube/errors'
import { sendJSON } from '@/kube/http'

import type { KeyHolder } from './servers'

const path = '/kube/appliance/certificates'
const period = 10_000
const soon = 1_000

/** A certificate, an authority or a key of the garden. */
export interface Item {
  name: string
  kind: 'certificate' | 'authority' | 'key'
  /** The subject of a certificate, or the id of a key. */
  subject?: string
  notAfter?: string
  daysLeft?: number
  renewalDue?: string
  state: 'ok' | 'rotating' | 'due' | 'expiring' | 'notYetValid' | 'expired' | 'unreadable'
  message?: string
}

/** How far the change of the encryption key is. */
export interface EncryptionRotation {
  key: string
  started: string
  rewritten?: string
  next?: string
  done?: number
  total?: number
  removedAfter?: string
  error?: string
}

/** How far the change of the authorities is. */
export interface AuthorityRotation {
  phase: 'preparing' | 'prepared' | 'completing'
  started: string
  /** When the garden was saved with the next authorities; until then no gardenlet is asked to take them up. */
  saved?: string
  completing?: string
  /** The seeds whose gardenlets have not taken up the next authorities. */
  waiting?: string[]
  error?: string
}

export interface Report {
  renewed?: string[]
  items: Item[]
  encryption?: EncryptionRotation
  authorities?: AuthorityRotation
  /** That of the keys that servers share by an external datastore; without one there is none. */
  generation?: number
  servers?: KeyHolder[]
}

/** What is to be renewed, and how. */
export interface Rotation {
  rotate:
    | 'certificates'
    | 'serviceAccountKey'
    | 'workloadIdentityKey'
    | 'encryptionKey'
    | 'authorities'
    | 'observabilityCredentials'
    | 'credentials'
  phase?: 'start' | 'complete'
  force?: boolean
}

export function stateTone(state: Item['state']): Tone {
  const tones: Partial<Record<Item['state'], Tone>> = { ok: 'ok', rotating: 'busy', due: 'warn', expiring: 'warn' }
  return tones[state] ?? 'bad'
}

/** The keys that sign tokens, by their names. They are rotated in two phases. */
export const tokenKeys = {
  'service-account': 'serviceAccountKey',
  'workload-identity': 'workloadIdentityKey',
} as const
export type TokenKey = keyof typeof tokenKeys
export const isTokenKey = (name: string): name is TokenKey => Object.hasOwn(tokenKeys, name)

/** Whether a key of tokens is being rotated: then there is a former key that is only accepted. */
export function tokenKeyRotates(items: Item[], key: TokenKey): boolean {
  return items.some((x) => x.name.startsWith(key) && x.state === 'rotating')
}

/** Whether a rotation goes on that people complete. */
export function anyRotates(report: Report): boolean {
  const keys = Object.keys(tokenKeys) as TokenKey[]
  return report.authorities !== undefined || keys.some((key) => tokenKeyRotates(report.items, key))
}

/** Whether something goes on that people watch: objects are written with a new key, or gardenlets take up authorities. */
function moves(report: Report | undefined): boolean {
  return (
    Boolean(report?.encryption && !report.encryption.rewritten) ||
    (report?.authorities?.phase ?? 'prepared') !== 'prepared'
  )
}

/** Reads the certificates and keys again and again, more often while something goes on. */
export function useKeys() {
  const report = shallowRef<Report>()
  const error = shallowRef<RequestError>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let ended = false
  async function look(): Promise<void> {
    clearTimeout(timer)
    if (document.visibilityState === 'visible' || !report.value) {
      try {
        report.value = await sendJSON<Report>(path)
        error.value = undefined
      } catch (thrown) {
        error.value = asRequestError(thrown)
      }
    }
    if (ended || error.value?.kind === 'forbidden' || error.value?.kind === 'missing') return
    timer = setTimeout(look, moves(report.value) ? soon : period)
  }
  /** Asks for a rotation; what was refused is thrown. */
  async function rotate(wanted: Rotation): Promise<Report> {
    const answer = await sendJSON<Report>(path, { method: 'POST', body: JSON.stringify(wanted) })
    report.value = answer
    void look()
    return answer
  }
  void look()
  onScopeDispose(() => {
    ended = true
    clearTimeout(timer)
  })
  return { report, error, look, rotate }
}

// SPDX-License-Identifier: Apache-2.0

import { onScopeDispose, shallowRef } from 'vue'

import type { Tone } from '@/design/tone'
import { asRequestError, type RequestError } from '@/kube/errors'
import { sendJSON } from '@/kube/http'

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

export interface Report {
  renewed?: string[]
  items: Item[]
  encryption?: EncryptionRotation
}

/** What is to be renewed, and how. */
export interface Rotation {
  rotate: 'certificates' | 'serviceAccountKey' | 'encryptionKey'
  phase?: 'start' | 'complete'
  force?: boolean
}

export function stateTone(state: Item['state']): Tone {
  const tones: Partial<Record<Item['state'], Tone>> = { ok: 'ok', rotating: 'busy', due: 'warn', expiring: 'warn' }
  return tones[state] ?? 'bad'
}

/** Whether the key of service account tokens is being rotated: then there is a key that is only accepted. */
export function tokenKeyRotates(items: Item[]): boolean {
  return items.some((x) => x.name.startsWith('service-account') && x.state === 'rotating')
}

/** Reads the certificates and keys again and again, more often while objects are being written with a new key. */
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
    const writing = report.value?.encryption && !report.value.encryption.rewritten
    timer = setTimeout(look, writing ? soon : period)
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

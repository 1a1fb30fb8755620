// SPDX-License-Identifier: Apache-2.0

import { shallowRef } from 'vue'

import { asRequestError } from '@/kube/errors'

/** A short message about something that was just done. */
export interface Toast {
  id: number
  tone: 'ok' | 'warn' | 'bad'
  text: string
}

export const toasts = shallowRef<Toast[]>([])
let last = 0

function add(tone: Toast['tone'], text: string, milliseconds: number): void {
  const toast: Toast = { id: ++last, tone, text }
  toasts.value = [...toasts.value.slice(-3), toast]
  setTimeout(() => dismiss(toast.id), milliseconds)
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((t) => t.id !== id)
}

export function done(text: string): void {
  add('ok', text, 4_000)
}

/** Passes on a warning of the API. */
export function warn(text: string): void {
  add('warn', text, 12_000)
}

/** Says what failed, in our words and in those of the API. */
export function failed(what: string, thrown: unknown): void {
  const error = asRequestError(thrown)
  add('bad', `${what}: ${error.details.join('; ')}`, 12_000)
}

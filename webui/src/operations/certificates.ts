// SPDX-License-Identifier: Apache-2.0

import type { RouteLocationRaw } from 'vue-router'

import type { Tone } from '@/design/tone'
import type { Status } from '@/home/status'
import { g } from '@/text/garden'

export type Certificate = NonNullable<Status['certificates']>[number]

/** A row of a table of certificates. */
export interface Row {
  name: string
  about: string
  notAfter: string
  daysLeft: number
  /** What else there is to know. */
  hint?: string
  /** It is trusted, but signs nothing yet or any more. */
  rotating?: boolean
  to?: RouteLocationRaw
}

export const isAuthority = (name: string): boolean => /(^|-)ca(-|$)/.test(name)

/** How urgent it is, with the days after which the diagnosis of the server warns as well. */
export function urgency(name: string, daysLeft: number): Tone {
  const [warn, bad] = isAuthority(name) ? [180, 30] : [30, 7]
  if (daysLeft < bad) return 'bad'
  return daysLeft < warn ? 'warn' : 'ok'
}

/** What a certificate is for. */
export function purpose(name: string): string {
  return (g.operations.certificates.purposes as Record<string, string | undefined>)[name] ?? ''
}

/** Whole days until a time; negative after it. */
export const daysUntil = (at: string, now: number): number => Math.floor((Date.parse(at) - now) / 86_400_000)

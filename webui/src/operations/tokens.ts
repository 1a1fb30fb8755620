// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '@/kube/types'

/** The Secret of a join token. The pages read no secret part of it. */
export interface TokenSecret extends KubeObject {
  data?: Record<string, string>
}

export type TokenState = 'valid' | 'used' | 'expired'

export const prefix = 'bootstrap-token-'

export function idOf(secret: TokenSecret): string {
  return secret.metadata.name.startsWith(prefix) ? secret.metadata.name.slice(prefix.length) : secret.metadata.name
}

/** A part of a token as a text; undefined if it has none. */
export function part(secret: TokenSecret, key: string): string | undefined {
  const value = secret.data?.[key]
  if (value === undefined) return undefined
  return new TextDecoder().decode(Uint8Array.from(atob(value), (c) => c.charCodeAt(0)))
}

/** The seed that has joined with a token. */
export function usedBy(secret: TokenSecret): string | undefined {
  return secret.metadata.annotations?.['token.terrarium.garden/used-by-seed']
}

/** Whether a token can be used. One that a seed has used, or whose time is over, cannot. */
export function tokenState(secret: TokenSecret, now = Date.now()): TokenState {
  if (usedBy(secret) !== undefined) return 'used'
  const expires = part(secret, 'expiration')
  return expires !== undefined && Date.parse(expires) <= now ? 'expired' : 'valid'
}

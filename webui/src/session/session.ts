// SPDX-License-Identifier: Apache-2.0

import { computed, shallowRef } from 'vue'

import { warn } from '@/design/toasts'
import { asRequestError, RequestError } from '@/kube/errors'
import { guardRequests, send, sendJSON } from '@/kube/http'
import { forgetAll } from '@/kube/live'

/** Who is signed in. The credentials themselves stay in the server; the browser holds an HttpOnly cookie. */
export interface Session {
  user: { name: string; groups?: string[] }
  csrf: string
  expires: string
  admin: boolean
}

/** How to sign in: a token, or the code of a one-time link. */
export type Credentials = { token: string } | { code: string }

const current = shallowRef<Session>()
let onEnd: () => void = () => {}

/** The session, or undefined. */
export const session = computed(() => current.value)

/** Prepares requests; ended is called when the server no longer knows the session. */
export function installSession(ended: () => void): void {
  onEnd = ended
  guardRequests({
    warned: warn,
    csrf: () => current.value?.csrf ?? '',
    signedOut: () => {
      if (!current.value) return
      end()
      onEnd()
    },
  })
}

/** Asks the server for the session of the cookie. It returns false if there is none. */
export async function resume(): Promise<boolean> {
  try {
    current.value = await sendJSON<Session>('/session')
    return true
  } catch (thrown) {
    const error = asRequestError(thrown)
    if (error.kind === 'signed-out') return false
    throw error
  }
}

/** How people can sign in apart from links and tokens: with an account of the issuer of that name. */
export interface Ways {
  oidc?: string
}

export function ways(): Promise<Ways> {
  return sendJSON<Ways>('/session/ways')
}

/** The address that sends the browser to the issuer, and back to a page. */
export function issuerPath(to: string): string {
  return '/ui/session/oidc' + (to === '/' ? '' : '?to=' + encodeURIComponent(to))
}

export async function signIn(credentials: Credentials): Promise<void> {
  current.value = await sendJSON<Session>('/session', { method: 'POST', body: JSON.stringify(credentials) })
}

/** Ends the session here and in the server. */
export async function signOut(): Promise<void> {
  try {
    await send('/session', { method: 'DELETE' })
  } catch (thrown) {
    // A session that the server no longer knows is over all the same.
    if (!(thrown instanceof RequestError) || thrown.kind !== 'signed-out') throw thrown
  } finally {
    end()
  }
}

function end(): void {
  current.value = undefined
  forgetAll()
}

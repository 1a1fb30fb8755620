// SPDX-License-Identifier: Apache-2.0

import type { Router } from 'vue-router'

import { signOut } from './session'

/**
 * Goes to the page that asks to sign in, and ends the session. A page with changes that are not saved asks before it is left, and whoever stays
 * on it stays signed in: without a session there would be nothing to stay for.
 */
export async function leaveSession(router: Router): Promise<void> {
  if (await router.push({ name: 'sign-in' })) return
  await signOut()
}

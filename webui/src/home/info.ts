// SPDX-License-Identifier: Apache-2.0

import { shallowRef, type ShallowRef } from 'vue'

import { sendJSON } from '@/kube/http'

/** What the server tells about itself. */
export interface Info {
  version: string
  server: string
  local?: string
  caFingerprint: string
  clusterIdentity: string
  admin: boolean
  gardenerApiLevel?: string
}

const info = shallowRef<Info>()
let asking: Promise<void> | undefined

/** Information about the server, read once. It stays undefined if the server does not tell. */
export function useInfo(): ShallowRef<Info | undefined> {
  asking ??= sendJSON<Info>('/info')
    .then((answer) => void (info.value = answer))
    .catch(() => void (asking = undefined))
  return info
}

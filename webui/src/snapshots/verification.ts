// SPDX-License-Identifier: Apache-2.0

import { onScopeDispose, ref, watch } from 'vue'

import { failed } from '@/design/toasts'
import type { Tone } from '@/design/tone'
import { createSub } from '@/kube/client'
import { snapshots } from '@/kube/resources'
import { safety } from '@/text/safety'

import type { Verification } from './types'

const texts = safety.snapshots.verify
const soon = 1_000

export function verifiedTone(is: Verification): Tone {
  return ({ Running: 'busy', Succeeded: 'ok', Failed: 'bad' } as const)[is.state]
}

/** Has the server verify a snapshot. While it does, the list is read often. */
export function useVerification(name: () => string, known: () => Verification | undefined, refresh: () => unknown) {
  const asking = ref(false)
  let timer: ReturnType<typeof setInterval> | undefined
  const stop = () => clearInterval(timer)
  watch(
    () => known()?.state === 'Running',
    (running) => {
      stop()
      if (running) timer = setInterval(refresh, soon)
    },
    { immediate: true },
  )
  onScopeDispose(stop)
  async function verify(): Promise<void> {
    asking.value = true
    try {
      await createSub(snapshots, { name: name() }, 'verification', {
        apiVersion: 'appliance.gardener.cloud/v1alpha1',
        kind: 'Snapshot',
      })
    } catch (thrown) {
      failed(texts.cannot, thrown)
    }
    await refresh()
    asking.value = false
  }
  return { asking, verify }
}

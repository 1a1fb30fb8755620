// SPDX-License-Identifier: Apache-2.0

import { shallowRef, type ShallowRef } from 'vue'

import { asRequestError, type RequestError } from '@/kube/errors'
import { sendJSON } from '@/kube/http'

/** The configuration of the server with all defaults, read once; for those who may read it. */
export function useConfiguration<T>(): {
  configuration: ShallowRef<T | undefined>
  error: ShallowRef<RequestError | undefined>
  load: () => Promise<void>
} {
  const configuration = shallowRef<T>()
  const error = shallowRef<RequestError>()
  async function load(): Promise<void> {
    error.value = undefined
    try {
      configuration.value = await sendJSON<T>('/kube/appliance/configuration')
    } catch (thrown) {
      error.value = asRequestError(thrown)
    }
  }
  void load()
  return { configuration, error, load }
}

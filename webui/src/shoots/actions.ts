// SPDX-License-Identifier: Apache-2.0

import { done, failed } from '@/design/toasts'
import { patch, remove } from '@/kube/client'
import { shoots } from '@/kube/resources'
import { t } from '@/text/en'

import type { Shoot } from './types'

/** What can be done with a cluster. Each is what kubectl would do with an annotation or a patch. */
export type Action = 'reconcile' | 'retry' | 'maintain' | 'hibernate' | 'wake' | 'delete'

const changes: Record<Exclude<Action, 'delete'>, unknown> = {
  reconcile: { metadata: { annotations: { 'gardener.cloud/operation': 'reconcile' } } },
  retry: { metadata: { annotations: { 'gardener.cloud/operation': 'retry' } } },
  maintain: { metadata: { annotations: { 'gardener.cloud/operation': 'maintain' } } },
  hibernate: { spec: { hibernation: { enabled: true } } },
  wake: { spec: { hibernation: { enabled: false } } },
}

async function perform(action: Action, shoot: Shoot): Promise<void> {
  const { namespace, name } = shoot.metadata
  if (action !== 'delete') {
    await patch(shoots, { namespace, name }, changes[action])
    return
  }
  // Without the confirmation the garden refuses to delete.
  await patch(
    shoots,
    { namespace, name },
    { metadata: { annotations: { 'confirmation.gardener.cloud/deletion': 'true' } } },
  )
  await remove(shoots, { namespace, name })
}

/** Does it for all clusters, a few at a time, and says what came of it. It returns whether all went well. */
export async function act(action: Action, chosen: Shoot[]): Promise<boolean> {
  const waiting = [...chosen]
  let succeeded = 0
  let complaint: { name: string; thrown: unknown } | undefined
  let failures = 0
  const worker = async (): Promise<void> => {
    for (let shoot = waiting.shift(); shoot; shoot = waiting.shift()) {
      try {
        await perform(action, shoot)
        succeeded++
      } catch (thrown) {
        failures++
        complaint ??= { name: shoot.metadata.name, thrown }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(4, chosen.length) }, worker))
  if (succeeded > 0)
    done(chosen.length === 1 ? t.shoots.done[action] : t.shoots.doneMany(t.shoots.done[action], succeeded))
  if (complaint) {
    const more = failures > 1 ? ` (+${failures - 1})` : ''
    failed(`${t.shoots.failed[action]} ${complaint.name}${more}`, complaint.thrown)
  }
  return failures === 0
}

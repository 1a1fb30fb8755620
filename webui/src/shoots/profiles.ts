// SPDX-License-Identifier: Apache-2.0

import { computed } from 'vue'

import { useLive } from '@/kube/live'
import { cloudProfiles } from '@/kube/resources'

import { profileName } from './state'
import type { Shoot } from './types'
import type { CloudProfile } from './versions'

/** The cloud profiles, and which one a cluster uses. Profiles of a namespace are looked up only where they are edited. */
export function useProfiles() {
  const store = useLive<CloudProfile>(cloudProfiles, {})
  const profiles = computed(() => store.value?.items.value ?? [])
  const byName = computed(() => new Map(profiles.value.map((p) => [p.metadata.name, p])))
  return { store, profiles, profileOf: (s: Shoot) => byName.value.get(profileName(s)) }
}

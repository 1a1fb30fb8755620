// SPDX-License-Identifier: Apache-2.0

import { computed, effectScope, shallowRef, watch, type ComputedRef } from 'vue'

import { asRequestError, type RequestError } from '@/kube/errors'
import { sendJSON } from '@/kube/http'
import { useLive } from '@/kube/live'
import { projects as resource } from '@/kube/resources'
import type { Project } from '@/projects/types'
import { session } from '@/session/session'

/** A project in the switcher. */
export interface ProjectEntry {
  name: string
  namespace: string
  description?: string | undefined
  phase?: string | undefined
}

// Members may not list projects over the whole garden; the server then tells which ones they may read.
const own = shallowRef<ProjectEntry[]>()
const failure = shallowRef<RequestError>()
let entries: ComputedRef<ProjectEntry[]> | undefined
let forbidden: ComputedRef<boolean> | undefined
let known: ComputedRef<boolean> | undefined
let all: ComputedRef<boolean> | undefined
let stop: (() => void) | undefined
let repeat: ReturnType<typeof setTimeout> | undefined
// The time after which they are asked for again, if that has failed for a reason that passes.
const patience = 3_000

async function readOwn(): Promise<void> {
  try {
    own.value = (await sendJSON<{ items: ProjectEntry[] }>('/session/projects', { accept: 'application/json' })).items
    failure.value = undefined
  } catch (thrown) {
    failure.value = asRequestError(thrown)
    clearTimeout(repeat)
    if (stop && failure.value.passing) repeat = setTimeout(readOwn, patience)
  }
}

function begin(): void {
  const scope = effectScope(true)
  stop = () => {
    scope.stop()
    clearTimeout(repeat)
    stop = entries = forbidden = known = all = undefined
    own.value = failure.value = undefined
  }
  scope.run(() => {
    const live = useLive<Project>(resource, {})
    const isForbidden = computed(() => live.value?.error.value?.kind === 'forbidden')
    forbidden = isForbidden
    watch(isForbidden, (yes) => yes && !own.value && void readOwn(), { immediate: true })
    known = computed(() => (isForbidden.value ? own.value !== undefined : (live.value?.loaded.value ?? false)))
    all = computed(() => !isForbidden.value && (live.value?.complete.value ?? false))
    entries = computed(() => {
      const list = isForbidden.value ? (own.value ?? []) : (live.value?.items.value ?? []).flatMap(entryOf)
      return [...list].sort((a, b) => a.name.localeCompare(b.name))
    })
    watch(session, (s) => !s && stop?.())
  })
}

function entryOf(p: Project): ProjectEntry[] {
  const namespace = p.spec?.namespace
  if (!namespace) return []
  return [{ name: p.metadata.name, namespace, description: p.spec.description, phase: p.status?.phase }]
}

/** The projects that the user may read, and whether that is all that can be said. */
export function useProjects() {
  if (!stop) begin()
  const list = entries!
  const names = computed(() => new Map(list.value.map((p) => [p.namespace, p.name])))
  return {
    projects: list,
    /** The user sees own projects only. */
    limited: forbidden!,
    /** They have been read, or some of many. */
    loaded: known!,
    /** The user sees all projects of the garden, and all have been read: one that is not there does not exist. */
    complete: all!,
    /** Why the own projects could not be read. */
    failure,
    retry: readOwn,
    /** The name of the project of a namespace. */
    nameOf: (namespace: string | undefined) =>
      names.value.get(namespace ?? '') ?? (namespace ?? '').replace(/^garden-/, ''),
  }
}

// SPDX-License-Identifier: Apache-2.0

import type { Tone } from '@/design/tone'
import { t } from '@/text/en'

import { runsOf, type Run } from './runs'
import type { EntryType, TimelineEntry } from './types'

/** A line of the history: an entry, or a whole run of tasks. */
export type Line =
  | { key: string; time: number; kind: 'entry'; entry: TimelineEntry }
  | { key: string; time: number; kind: 'run'; run: Run }

/** The lines of a history, the newest first. Tasks are put together to runs. */
export function linesOf(entries: TimelineEntry[], types: Set<EntryType>): Line[] {
  const lines: Line[] = entries
    .filter((e) => e.type !== 'Task' && types.has(e.type))
    .map((entry) => ({ key: entry.metadata.name, time: Date.parse(entry.time), kind: 'entry', entry }))
  if (types.has('Task')) {
    for (const run of runsOf(entries)) lines.push({ key: run.key, time: run.ended ?? run.started, kind: 'run', run })
  }
  return lines.sort((a, b) => b.time - a.time || b.key.localeCompare(a.key))
}

/** Names a user in a few words: a gardenlet by its seed, and the server itself as such. */
export function who(name: string | undefined): string {
  if (!name) return ''
  const seed = /^gardener\.cloud:system:seed:(.+)$/.exec(name)?.[1]
  if (seed) return t.timeline.gardenlet(seed)
  return name === 'system:apiserver' ? t.timeline.garden : name
}

/** Says in a few words what an entry is about. */
export function headline(e: TimelineEntry): string {
  if (e.request) {
    const { verb, fields = [] } = e.request
    if (verb === 'Create') return t.timeline.created
    if (verb === 'Delete') return t.timeline.deletionRequested
    return fields.length > 0 ? t.timeline.changed(fields.join(', ')) : t.timeline.operationRequested
  }
  if (e.operation) return `${t.operation.names[e.operation.type]} ${t.operation.states[e.operation.state]}`
  if (e.condition?.status) return t.timeline.condition(e.condition.type, e.condition.status)
  if (e.condition) return t.timeline.conditionGone(e.condition.type)
  if (e.type === 'Errors')
    return (e.lastErrors ?? []).length > 0 ? t.timeline.errors(e.lastErrors!.length) : t.timeline.noErrors
  return e.type === 'Removed' ? t.timeline.removed : e.type
}

/** What else there is to say. */
export function explanation(e: TimelineEntry): string {
  if (e.operation) return e.operation.description ?? ''
  if (e.condition) return e.condition.message ?? e.condition.reason ?? ''
  return (e.lastErrors ?? []).map((x) => x.description).join('\n')
}

export function toneOf(e: TimelineEntry): Tone {
  if (e.operation) {
    const tones: Record<string, Tone> = { Processing: 'busy', Succeeded: 'ok', Error: 'bad', Failed: 'bad' }
    return tones[e.operation.state] ?? 'off'
  }
  if (e.condition?.status) return e.condition.status === 'True' ? 'ok' : e.condition.status === 'False' ? 'bad' : 'warn'
  if (e.type === 'Errors') return (e.lastErrors ?? []).length > 0 ? 'bad' : 'ok'
  return 'off'
}

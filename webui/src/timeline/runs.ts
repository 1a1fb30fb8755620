// SPDX-License-Identifier: Apache-2.0

import { parseDuration } from '@/design/time'
import type { LastOperation } from '@/kube/types'

import type { TimelineEntry } from './types'

/** A task in a run, with its times in milliseconds. */
export interface RunTask {
  id: string
  title: string
  /** When all that it had to wait for was done, when it began, and when it ended; a running task has no end. */
  ready: number
  started: number
  ended?: number
  error?: string
  after: string[]
}

/** One run of a flow. */
export interface Run {
  key: string
  flow: string
  operation?: LastOperation['type']
  requestedBy?: string
  state: 'running' | 'succeeded' | 'failed'
  started: number
  ended?: number
  tasks: RunTask[]
}

// The clocks of a gardenlet and of the garden are not quite the same.
const skew = 2_000

interface Beginning {
  time: number
  entry: TimelineEntry
}

/**
 * Puts the tasks of a timeline together to runs, the oldest first. A run begins with an operation that starts to be processed,
 * or with a task that has already ended in the run before. Tasks are known once they have ended; since when those that run now have been
 * seen is told by their titles.
 */
export function runsOf(
  entries: TimelineEntry[],
  last?: LastOperation,
  seen: ReadonlyMap<string, number> = new Map(),
): Run[] {
  const ordered = entries.map((entry) => ({ time: Date.parse(entry.time), entry })).sort((a, b) => a.time - b.time)
  const beginnings = ordered.filter(
    ({ entry }) => entry.operation?.state === 'Processing' && entry.operation.from !== 'Processing',
  )
  const runs = new Map<string, Run>()
  const latest = new Map<string, number>()
  for (const { time, entry } of ordered) {
    if (!entry.task) continue
    const task = taskOf(time, entry)
    const beginning = findBeginning(beginnings, task.started)
    const place = `${entry.task.flow}/${beginning?.entry.metadata.name ?? ''}`
    let number = latest.get(place) ?? 0
    if (runs.get(`${place}/${number}`)?.tasks.some((x) => x.id === task.id)) latest.set(place, ++number)
    const key = `${place}/${number}`
    let run = runs.get(key)
    if (!run) {
      run = { key, flow: entry.task.flow, state: 'succeeded', started: task.ready, tasks: [] }
      if (beginning?.entry.operation) run.operation = beginning.entry.operation.type
      if (beginning?.entry.requestedBy) run.requestedBy = beginning.entry.requestedBy
      runs.set(key, run)
    }
    run.tasks.push(task)
    run.started = Math.min(run.started, task.ready)
    run.ended = Math.max(run.ended ?? 0, time)
    if (task.error) run.state = 'failed'
  }
  const all = [...runs.values()].sort((a, b) => a.started - b.started)
  goOn(all, beginnings, last, seen)
  for (const run of all) run.tasks.sort((a, b) => a.started - b.started || a.id.localeCompare(b.id))
  return all
}

function findBeginning(beginnings: Beginning[], started: number): Beginning | undefined {
  return beginnings.findLast((b) => b.time <= started + skew)
}

function taskOf(ended: number, entry: TimelineEntry): RunTask {
  const task = entry.task!
  const started = ended - parseDuration(task.duration)
  return {
    id: task.id,
    title: task.title || task.id,
    ready: started - parseDuration(task.waiting),
    started,
    ended,
    after: task.after ?? [],
    ...(task.error ? { error: task.error } : {}),
  }
}

/** While an operation runs, its description names the tasks that run now: they are added to the last run. */
function goOn(
  runs: Run[],
  beginnings: Beginning[],
  last: LastOperation | undefined,
  seen: ReadonlyMap<string, number>,
): void {
  if (last?.state !== 'Processing') return
  const began = beginnings.at(-1)
  let run = runs.at(-1)
  if (!run || (began && !run.key.includes(`/${began.entry.metadata.name}/`))) {
    const started = began?.time ?? Date.parse(last.lastUpdateTime)
    run = { key: 'now', flow: '', operation: last.type, state: 'running', started, tasks: [] }
    if (began?.entry.requestedBy) run.requestedBy = began.entry.requestedBy
    runs.push(run)
  }
  run.state = 'running'
  delete run.ended
  const earlier = knowledge(runs)
  for (const title of runningTitles(last.description, earlier)) {
    if (run.tasks.some((x) => x.title === title)) continue
    const known = earlier.get(title)
    // What a task has to wait for is known from earlier runs. In the first one, only since when it was seen.
    const before = (known?.after ?? []).map((id) => run.tasks.find((x) => x.id === id)?.ended ?? 0)
    const at = known ? 0 : (seen.get(title) ?? Date.parse(last.lastUpdateTime))
    const started = Math.max(run.started, at, ...before)
    run.tasks.push({ id: known?.id ?? title, title, ready: started, started, after: known?.after ?? [] })
  }
}

function knowledge(runs: Run[]): Map<string, RunTask> {
  return new Map(runs.flatMap((run) => run.tasks.map((task) => [task.title, task] as const)))
}

/** The titles in the description of an operation in progress. A title may itself contain a comma. */
export function runningTitles(description: string | undefined, known: Map<string, unknown> = new Map()): string[] {
  if (!description || /^Starting |finished$|has begun|is waiting/.test(description)) return []
  const parts = description.split(', ')
  const titles: string[] = []
  for (let from = 0; from < parts.length;) {
    let to = parts.length
    while (to > from + 1 && !known.has(parts.slice(from, to).join(', '))) to--
    titles.push(parts.slice(from, to).join(', '))
    from = to
  }
  return titles
}

/** How much of a run's time a task is to blame for: the chain of tasks, each of which the next had to wait for. */
export function criticalPath(run: Run): Set<string> {
  const byId = new Map(run.tasks.map((x) => [x.id, x]))
  const end = (x: RunTask) => x.ended ?? Infinity
  let at = run.tasks.reduce<RunTask | undefined>((a, b) => (!a || end(b) > end(a) ? b : a), undefined)
  const path = new Set<string>()
  while (at && !path.has(at.id)) {
    path.add(at.id)
    const before: RunTask[] = at.after.flatMap((id) => byId.get(id) ?? [])
    at = before.reduce<RunTask | undefined>((a, b) => (!a || end(b) > end(a) ? b : a), undefined)
  }
  return path
}

/** Since when the tasks of an operation have been seen to run. Those that run no more are forgotten. */
export function seenTasks(
  before: ReadonlyMap<string, number>,
  last: LastOperation | undefined,
  entries: TimelineEntry[],
): Map<string, number> {
  const now = new Map<string, number>()
  if (last?.state !== 'Processing') return now
  const titles = new Map(entries.flatMap((e) => (e.task ? [[e.task.title || e.task.id, true] as const] : [])))
  for (const title of runningTitles(last.description, titles))
    now.set(title, before.get(title) ?? Date.parse(last.lastUpdateTime))
  return now
}

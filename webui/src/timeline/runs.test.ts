// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest'

import { edgesOf, relatives } from './graph'
import { criticalPath, runningTitles, runsOf, seenTasks } from './runs'
import { linesOf } from './summary'
import type { TimelineEntry } from './types'

let number = 0
function entry(seconds: number, fields: Partial<TimelineEntry>): TimelineEntry {
  const name = String(++number).padStart(6, '0')
  return {
    metadata: { name, namespace: 'garden-meadow', uid: name, resourceVersion: '1', creationTimestamp: '' },
    time: new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString(),
    subject: { kind: 'Shoot', name: 'sprout' },
    type: 'Task',
    ...fields,
  }
}
const processing = (seconds: number, from?: string, by?: string) =>
  entry(seconds, {
    type: 'Operation',
    operation: { type: 'Reconcile', state: 'Processing', progress: 0, ...(from ? { from } : {}) },
    ...(by ? { requestedBy: by } : {}),
  })
const task = (seconds: number, id: string, duration: string, after: string[] = [], error = '') =>
  entry(seconds, {
    task: { flow: 'reconcile', id, title: `Title of ${id}`, duration, after, ...(error ? { error } : {}) },
  })

describe('runsOf', () => {
  it('begins a run with an operation', () => {
    const runs = runsOf([
      processing(0, 'Succeeded', 'rose'),
      task(5, 'a', '4s'),
      task(9, 'b', '2s', ['a']),
      processing(100, 'Succeeded'),
      task(103, 'a', '2s'),
    ])
    expect(runs.map((r) => [r.tasks.map((x) => x.id), r.requestedBy, r.state])).toEqual([
      [['a', 'b'], 'rose', 'succeeded'],
      [['a'], undefined, 'succeeded'],
    ])
    expect(runs[0]!.tasks[0]).toMatchObject({
      started: Date.UTC(2026, 0, 1, 0, 0, 1),
      ended: Date.UTC(2026, 0, 1, 0, 0, 5),
    })
  })

  it('begins a run with a task that has run before: the operation is tried again', () => {
    const runs = runsOf([
      processing(0, 'Pending'),
      task(2, 'a', '1s'),
      task(4, 'b', '1s', [], 'no'),
      task(12, 'a', '1s'),
      task(14, 'b', '1s'),
    ])
    expect(runs.map((r) => r.state)).toEqual(['failed', 'succeeded'])
  })

  it('takes a change of the progress for no beginning', () => {
    expect(runsOf([processing(0), task(2, 'a', '1s'), processing(3, 'Processing'), task(5, 'b', '1s')])).toHaveLength(1)
  })

  it('adds the tasks that run now, with what is known about them', () => {
    const operation = {
      type: 'Reconcile',
      state: 'Processing',
      progress: 10,
      description: 'Title of b, Something new',
      lastUpdateTime: '',
    } as const
    const runs = runsOf(
      [
        processing(0),
        task(2, 'a', '1s'),
        task(9, 'b', '1s', ['a']),
        processing(100, 'Succeeded'),
        task(104, 'a', '3s'),
      ],
      operation,
    )
    const now = runs.at(-1)!
    expect(now.state).toBe('running')
    expect(
      now.tasks
        .filter((x) => x.ended === undefined)
        .map((x) => x.id)
        .sort(),
    ).toEqual(['Something new', 'b'])
    expect(now.tasks.find((x) => x.id === 'b')).toMatchObject({ after: ['a'], started: Date.UTC(2026, 0, 1, 0, 1, 44) })
  })

  it('shows an operation whose first task has not ended', () => {
    const operation = {
      type: 'Create',
      state: 'Processing',
      progress: 0,
      description: 'Deploying a, with care',
      lastUpdateTime: '2026-01-01T00:00:00Z',
    } as const
    const runs = runsOf([processing(0)], operation)
    expect(runs).toHaveLength(1)
    expect(runs[0]!.tasks.map((x) => x.title)).toEqual(['Deploying a', 'with care'])
  })
})

describe('tasks of the first run', () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString()
  const running = (seconds: number, description: string) =>
    ({ type: 'Create', state: 'Processing', progress: 10, description, lastUpdateTime: at(seconds) }) as const

  it('are seen to run since they were first named', () => {
    let seen = seenTasks(new Map(), running(3, 'Deploying a'), [])
    seen = seenTasks(seen, running(5, 'Deploying a, Waiting for b'), [])
    expect([...seen]).toEqual([
      ['Deploying a', Date.parse(at(3))],
      ['Waiting for b', Date.parse(at(5))],
    ])
    const [run] = runsOf([processing(0)], running(7, 'Deploying a, Waiting for b'), seen)
    expect(run!.tasks.map((x) => x.started)).toEqual([Date.parse(at(3)), Date.parse(at(5))])
    expect([...seenTasks(seen, running(9, 'Waiting for b'), [])].map(([title]) => title)).toEqual(['Waiting for b'])
    expect(seenTasks(seen, undefined, []).size).toBe(0)
  })
  it('have not begun before they are known to run', () => {
    const [run] = runsOf([processing(0)], running(7, 'Deploying a'))
    expect(run!.tasks[0]!.started).toBe(Date.parse(at(7)))
  })
})

describe('runningTitles', () => {
  it('keeps titles together that contain a comma', () => {
    expect(runningTitles('Waiting for a, b, Deploying c', new Map([['Waiting for a, b', 1]]))).toEqual([
      'Waiting for a, b',
      'Deploying c',
    ])
  })
  it('knows descriptions that name no task', () => expect(runningTitles('Starting reconcile')).toEqual([]))
})

describe('the picture', () => {
  const run = runsOf([
    task(2, 'a', '2s'),
    task(3, 'b', '1s', ['a']),
    task(9, 'c', '7s', ['a']),
    task(10, 'd', '1s', ['a', 'b', 'c', 'not-there']),
  ])[0]!

  it('leaves out edges that others imply', () => {
    expect(edgesOf(run).map((e) => e.from + e.to)).toEqual(['ab', 'ac', 'bd', 'cd'])
  })
  it('finds the chain that decided how long it took', () =>
    expect([...criticalPath(run)].sort()).toEqual(['a', 'c', 'd']))
  it('finds what is before and after a task', () =>
    expect([...relatives(edgesOf(run), 'b')].sort()).toEqual(['a', 'b', 'd']))
})

describe('linesOf', () => {
  it('shows the newest first and puts tasks together', () => {
    const entries = [
      entry(0, { type: 'Request', user: 'rose', request: { verb: 'Create' } }),
      processing(1),
      task(5, 'a', '1s'),
      task(7, 'b', '1s'),
    ]
    const lines = linesOf(entries, new Set(['Request', 'Operation', 'Task']))
    expect(lines.map((l) => (l.kind === 'run' ? `run of ${l.run.tasks.length}` : l.entry.type))).toEqual([
      'run of 2',
      'Operation',
      'Request',
    ])
    expect(linesOf(entries, new Set(['Request']))).toHaveLength(1)
  })
})

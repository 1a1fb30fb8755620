// SPDX-License-Identifier: Apache-2.0

import { parseDuration } from '@/design/time'
import { path, snapshots } from '@/kube/resources'

import type { Snapshot, SnapshotSettings } from './types'

/** What can be restored. All times are in milliseconds. */
export interface Reach {
  /** When the oldest and the newest snapshot were taken. */
  oldest: number
  newest: number
  /** Every moment from here to until can be restored; undefined if only the states of snapshots can. */
  from?: number
  until: number
  /** When the next snapshot is taken. */
  next?: number
}

/**
 * What can be restored from the snapshots that there are. Increments are kept from the newest snapshot before the window on; when all
 * snapshots are younger, from the oldest one on.
 */
export function reachOf(
  all: Snapshot[],
  settings: SnapshotSettings,
  savedUntil: string | undefined,
  now: number,
): Reach | undefined {
  const times = all.map((s) => Date.parse(s.status.time)).sort((a, b) => a - b)
  const [oldest] = times
  const newest = times.at(-1)
  if (oldest === undefined || newest === undefined) return undefined
  const until = Math.max(newest, savedUntil ? Date.parse(savedUntil) : 0)
  const interval = parseDuration(settings.interval)
  const next = interval > 0 && !settings.disabled ? { next: newest + interval } : {}
  if (parseDuration(settings.incrementInterval) === 0) return { oldest, newest, until, ...next }
  const edge = now - parseDuration(settings.window)
  return { oldest, newest, from: times.findLast((at) => at <= edge) ?? oldest, until, ...next }
}

/** Whether the snapshots are on the disk of the data directory, with which they would be lost. */
export function besideData(destination: string | undefined, dataDir: string | undefined): boolean {
  if (!destination || !dataDir) return false
  const folder = dataDir.replace(/\/+$/, '') + '/'
  return (destination.replace(/^file:\/\//, '') + '/').startsWith(folder)
}

/** What to restore: the newest state, that of a snapshot, or that of a moment. */
export type Wanted = { kind: 'newest' } | { kind: 'snapshot'; name: string } | { kind: 'time'; at: number }

/** The command that makes the data directory. */
export function restoreCommand(wanted: Wanted, destination: string, dataDir: string): string {
  const parts = ['terrarium snapshot restore']
  if (wanted.kind === 'snapshot') parts.push(quoted(wanted.name))
  parts.push(`--from ${quoted(destination)}`, '--key garden-snapshot.key', `--data-dir ${quoted(dataDir)}`)
  if (wanted.kind === 'time') parts.push(`--to-time ${new Date(wanted.at).toISOString().replace(/\.\d+Z$/, 'Z')}`)
  return parts.join(' \\\n  ')
}

/** Where the file of a snapshot can be downloaded. */
export const downloadPath = (name: string): string => '/ui/kube' + path(snapshots, undefined, name, 'download')

/** The command that reads a snapshot to its end. */
export function verifyCommand(name: string, destination: string): string {
  return `terrarium snapshot verify ${quoted(name)} --from ${quoted(destination)} --key garden-snapshot.key`
}

/** A word of a shell command. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

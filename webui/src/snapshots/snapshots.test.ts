// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest'

import { RequestError } from '@/kube/errors'

import { take, type Taker } from './taking'
import type { Snapshot } from './types'
import { besideData, quoted, reachOf, restoreCommand } from './window'

const hour = 3_600_000
const now = Date.parse('2026-11-22T12:00:00Z')
const at = (hours: number) => new Date(now - hours * hour).toISOString()
const snapshot = (hours: number) =>
  ({ metadata: { name: `snapshot-${hours}` }, status: { time: at(hours) } }) as Snapshot
const settings = { interval: '12h0m0s', incrementInterval: '30s', window: '24h0m0s' }

describe('what can be restored', () => {
  it('is nothing without a snapshot', () => expect(reachOf([], settings, undefined, now)).toBeUndefined())
  it('is every moment since the newest snapshot before the window', () => {
    const reach = reachOf([snapshot(2), snapshot(100), snapshot(30), snapshot(14)], settings, at(0.01), now)
    expect(reach).toMatchObject({ oldest: Date.parse(at(100)), from: Date.parse(at(30)), until: Date.parse(at(0.01)) })
    expect(reach?.next).toBe(Date.parse(at(-10)))
  })
  it('is every moment since the first snapshot in a young garden', () =>
    expect(reachOf([snapshot(2), snapshot(1)], settings, undefined, now)?.from).toBe(Date.parse(at(2))))
  it('is only the states of snapshots without increments', () =>
    expect(reachOf([snapshot(2)], { ...settings, incrementInterval: '0s' }, undefined, now)?.from).toBeUndefined())
})

describe('commands', () => {
  it('name the state that is wanted', () => {
    expect(restoreCommand({ kind: 'newest' }, '/mnt/b', '/d')).toBe(
      'terrarium snapshot restore \\\n  --from /mnt/b \\\n  --key garden-snapshot.key \\\n  --data-dir /d',
    )
    expect(restoreCommand({ kind: 'snapshot', name: 'snapshot-1' }, '/mnt/b', '/d')).toContain(
      'restore \\\n  snapshot-1 \\\n',
    )
    expect(restoreCommand({ kind: 'time', at: now }, '/mnt/b', '/d')).toContain('--to-time 2026-11-22T12:00:00Z')
  })
  it.each([
    ['/mnt/backup', '/mnt/backup'],
    ['/mnt/my backup', "'/mnt/my backup'"],
    ["it's; rm", `'it'\\''s; rm'`],
    ['s3://bucket/path', 's3://bucket/path'],
  ])('%s is pasted as %s', (word, want) => expect(quoted(word)).toBe(want))
})

it('snapshots in the data directory are not safe from the loss of the disk', () => {
  expect(besideData('/var/lib/terrarium/snapshots', '/var/lib/terrarium/')).toBe(true)
  expect(besideData('/var/lib/terrarium-backup', '/var/lib/terrarium')).toBe(false)
  expect(besideData('s3://bucket', '/var/lib/terrarium')).toBe(false)
})

describe('taking a snapshot', () => {
  function garden(change: Partial<Taker>) {
    let clock = 0
    const taker: Taker = {
      create: () => Promise.resolve(snapshot(0)),
      get: (name) => Promise.resolve({ metadata: { name } } as Snapshot),
      names: () => Promise.resolve(['old']),
      pause: (ms) => Promise.resolve(void (clock += ms)),
      now: () => clock,
      ...change,
    }
    return taker
  }
  const timeout = new RequestError('busy', 'request did not complete', 504)

  it('returns what the garden returns', async () =>
    expect(await take(garden({}))).toMatchObject({ metadata: { name: 'snapshot-0' } }))
  it('waits for the list when the request takes too long, and does not ask twice', async () => {
    const answers: (() => Promise<string[]>)[] = [
      () => Promise.resolve(['old']),
      () => Promise.resolve(['old']),
      () => Promise.reject(timeout),
      () => Promise.resolve(['new', 'old']),
    ]
    let created = 0
    const taker = garden({
      create: () => {
        created++
        return Promise.reject(timeout)
      },
      names: () => answers.shift()!(),
    })
    expect((await take(taker)).metadata.name).toBe('new')
    expect(created).toBe(1)
  })
  it('says what went wrong, and gives up in the end', async () => {
    const refused = new RequestError('forbidden', 'no', 403)
    await expect(take(garden({ create: () => Promise.reject(refused) }))).rejects.toBe(refused)
    await expect(take(garden({ create: () => Promise.reject(timeout) }))).rejects.toBe(timeout)
  })
})

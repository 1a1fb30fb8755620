// SPDX-License-Identifier: Apache-2.0

import type { RouteLocationRaw } from 'vue-router'

import type { Seed } from '@/seeds/types'
import { stateOf as seedState } from '@/seeds/state'
import { stateOf } from '@/shoots/state'
import type { Shoot } from '@/shoots/types'
import { t } from '@/text/en'

import { diagnosed, type Diagnosis } from './doctor'
import type { Status } from './status'

/** Something that an operator should know, with what to do about it. */
export interface Finding {
  id: string
  tone: 'bad' | 'warn' | 'busy'
  title: string
  text?: string
  /** What to do about it. */
  fix?: string
  to?: RouteLocationRaw
}

/** What is known about a garden. */
export interface Look {
  seeds: Seed[]
  shoots: Shoot[]
  projects: number
  profiles: number | undefined
  firstNamespace: string | undefined
  canListShoots: boolean
  status: Status | undefined
  /** What the server finds itself, for those who may read it. */
  diagnosis?: Diagnosis | undefined
}

const order = { bad: 0, warn: 1, busy: 2 }
const fewDays = 7
const most = 5

/** What is wrong, the worst first, and then what comes next in a new garden. */
export function findings(look: Look): Finding[] {
  const own = [...seeds(look.seeds), ...shoots(look.shoots)]
  if (!look.diagnosis) return [...units(look.status), ...own, ...certificates(look.status), ...next(look)]
  // Of what the server and this page both see, the server knows what to do about it.
  const found = diagnosed(look.diagnosis)
  const pages = new Set(found.flatMap((f) => (f.to ? [JSON.stringify(f.to)] : [])))
  const more = own.filter((f) => !pages.has(JSON.stringify(f.to)))
  return [...[...found, ...more].sort((a, b) => order[a.tone] - order[b.tone]), ...next(look)]
}

function units(status: Status | undefined): Finding[] {
  return (status?.units ?? [])
    .filter((u) => !u.ready)
    .map((u) => ({ id: 'unit-' + u.name, tone: 'bad', title: t.home.unit(u.name) }))
}

function seeds(list: Seed[]): Finding[] {
  return list
    .filter((s) => ['notReady', 'unknown'].includes(seedState(s)))
    .map((s) => {
      const bad = s.status?.conditions?.find((c) => c.status !== 'True')
      return {
        id: 'seed-' + s.metadata.name,
        tone: 'bad' as const,
        title: t.home.seedDown(s.metadata.name),
        to: { name: 'seed', params: { name: s.metadata.name } },
        ...(bad?.message ? { text: bad.message } : {}),
      }
    })
}

function shoots(list: Shoot[]): Finding[] {
  const bad = list.filter((s) => ['error', 'unhealthy'].includes(stateOf(s)))
  const found: Finding[] = bad.slice(0, most).map((s) => {
    const text =
      s.status?.lastErrors?.[0]?.description ?? s.status?.conditions?.find((c) => c.status === 'False')?.message
    return {
      id: 'shoot-' + s.metadata.uid,
      tone: stateOf(s) === 'error' ? 'bad' : 'warn',
      title: t.home.shootDown(s.metadata.name),
      to: { name: 'shoot', params: { namespace: s.metadata.namespace, name: s.metadata.name } },
      ...(text ? { text } : {}),
    }
  })
  if (bad.length > most) {
    found.push({
      id: 'shoots-more',
      tone: 'warn',
      title: t.home.more(bad.length - most),
      to: { name: 'all-shoots', query: { q: 'status:error,unhealthy' } },
    })
  }
  return found
}

function certificates(status: Status | undefined): Finding[] {
  return (status?.certificates ?? [])
    .filter((c) => c.daysLeft < fewDays)
    .map((c) => ({
      id: 'certificate-' + c.name,
      tone: 'warn',
      title: t.home.certificate(c.name, c.daysLeft),
      text: t.home.certificateText,
    }))
}

/** The next step on the way to a first cluster. */
function next(look: Look): Finding[] {
  const step = (id: string, title: string, text: string, to: RouteLocationRaw): Finding[] => [
    { id, tone: 'busy', title, text, to },
  ]
  if (!look.canListShoots) return []
  if (look.seeds.length === 0)
    return step('no-seed', t.home.noSeed, t.home.noSeedText, { name: 'seeds', query: { add: '' } })
  if (look.projects === 0)
    return step('no-project', t.home.noProject, t.home.noProjectText, { name: 'projects', query: { add: '' } })
  if (look.profiles === 0) return step('no-profile', t.home.noProfile, t.home.noProfileText, { path: '/cloudprofiles' })
  if (look.shoots.length === 0 && look.firstNamespace) {
    return step('no-shoot', t.home.noShoot, t.home.noShootText, {
      name: 'new-shoot',
      params: { namespace: look.firstNamespace },
    })
  }
  return []
}

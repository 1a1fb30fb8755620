// SPDX-License-Identifier: Apache-2.0

import { compare, type Column, type Sort } from '@/design/table'
import { t } from '@/text/en'

import { issueSince, stateOf, stateOrder } from './state'
import type { Shoot } from './types'
import { compareVersions } from './versions'

const c = t.shoots.columns

/** All columns of the list of clusters, in their order. */
export const allColumns: Column[] = [
  { id: 'name', label: c.name, min: 120, grow: 2, priority: 0, sortable: true, link: true },
  { id: 'project', label: c.project, min: 90, grow: 1, priority: 4, sortable: true },
  { id: 'status', label: c.status, min: 152, grow: 1, priority: 0, sortable: true },
  { id: 'conditions', label: c.conditions, min: 168, priority: 2 },
  { id: 'issue', label: c.issue, min: 84, priority: 6, sortable: true },
  { id: 'infrastructure', label: c.infrastructure, min: 96, grow: 1, priority: 7, sortable: true },
  { id: 'region', label: c.region, min: 90, grow: 1, priority: 8, sortable: true },
  { id: 'seed', label: c.seed, min: 90, grow: 1, priority: 5, sortable: true },
  { id: 'version', label: c.version, min: 92, priority: 3, sortable: true },
  { id: 'purpose', label: c.purpose, min: 92, priority: 9, sortable: true },
  { id: 'workers', label: c.workers, min: 66, priority: 11, sortable: true },
  { id: 'createdBy', label: c.createdBy, min: 100, grow: 1, priority: 12, sortable: true },
  { id: 'created', label: c.created, min: 48, priority: 10, sortable: true },
]

/** The columns that are shown when nothing else is chosen. */
export const standard = allColumns.map((x) => x.id).filter((id) => id !== 'createdBy' && id !== 'workers')

type Value = string | number | undefined

const values: Record<string, (s: Shoot, project: string) => Value> = {
  name: (s) => s.metadata.name,
  project: (_, project) => project,
  status: (s) => stateOrder[stateOf(s)] * 1000 + (s.status?.lastOperation?.progress ?? 0),
  issue: (s) => issueSince(s),
  infrastructure: (s) => s.spec.provider.type,
  region: (s) => s.spec.region,
  seed: (s) => s.spec.seedName,
  purpose: (s) => s.spec.purpose,
  workers: (s) => s.spec.provider.workers?.reduce((n, w) => n + w.maximum, 0),
  createdBy: (s) => s.metadata.annotations?.['gardener.cloud/created-by'],
  created: (s) => -Date.parse(s.metadata.creationTimestamp),
}

/** Sorts clusters by a column, and by name where that makes no difference. */
export function sorted(shoots: Shoot[], sort: Sort, projectOf: (s: Shoot) => string): Shoot[] {
  const sign = sort.desc ? -1 : 1
  const value = values[sort.by]
  const order = (a: Shoot, b: Shoot): number => {
    if (sort.by === 'version') return compareVersions(a.spec.kubernetes.version, b.spec.kubernetes.version)
    return value ? compare(value(a, projectOf(a)), value(b, projectOf(b))) : 0
  }
  return [...shoots].sort((a, b) => sign * order(a, b) || compare(a.metadata.name, b.metadata.name))
}

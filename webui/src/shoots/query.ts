// SPDX-License-Identifier: Apache-2.0

import { profileName, codesOf, isHibernated, stateOf } from './state'
import type { Shoot } from './types'

/** One term of a search: a word, or a field with values of which one has to match. */
export interface Term {
  field?: string
  values: string[]
  not: boolean
}

type Reader = (s: Shoot, project: string) => (string | undefined)[]

// What a field compares. Names of the dashboard of Gardener work too.
const readers: Record<string, Reader> = {
  name: (s) => [s.metadata.name],
  project: (_, project) => [project],
  namespace: (s) => [s.metadata.namespace],
  seed: (s) => [s.spec.seedName ?? s.status?.seedName],
  provider: (s) => [s.spec.provider.type],
  profile: (s) => [profileName(s)],
  region: (s) => [s.spec.region],
  version: (s) => [s.spec.kubernetes.version],
  purpose: (s) => [s.spec.purpose],
  status: (s) => [stateOf(s), s.metadata.deletionTimestamp ? 'deleting' : undefined],
  operation: (s) => [s.status?.lastOperation?.type, s.status?.lastOperation?.state],
  condition: (s) => (s.status?.conditions ?? []).filter((c) => c.status !== 'True').map((c) => c.type),
  code: (s) => codesOf(s),
  hibernated: (s) => [isHibernated(s) ? 'true' : 'false'],
  label: (s) => Object.entries(s.metadata.labels ?? {}).flatMap(([k, v]) => [k, `${k}=${v}`]),
}
// Fields that match a beginning or a part; all others match a whole value.
const partial = new Set(['name', 'version', 'condition', 'code', 'namespace'])

export const fields = Object.keys(readers)

/** Reads a search such as `seed:eu-1,eu-2 -purpose:testing "two words" web`. */
export function parse(text: string): Term[] {
  const terms: Term[] = []
  for (const [, not, field, quoted, plain] of text.matchAll(
    /(-)?(?:([A-Za-z]+):)?(?:"([^"]*)"?|([^\s"]+)|(?=\s|$))/g,
  )) {
    const value = quoted ?? plain ?? ''
    const values = (quoted === undefined && field ? value.split(',') : [value]).filter(Boolean)
    if (values.length === 0) continue
    terms.push({ ...(field ? { field: field.toLowerCase() } : {}), values, not: Boolean(not) })
  }
  return terms
}

/** The fields of a search that do not exist. */
export function unknownFields(terms: Term[]): string[] {
  return terms.flatMap((term) => (term.field && !(term.field in readers) ? [term.field] : []))
}

/** Whether a shoot meets all terms. Terms with an unknown field are left out. */
export function matches(shoot: Shoot, project: string, terms: Term[]): boolean {
  return terms.every((term) => {
    if (term.field && !(term.field in readers)) return true
    return meets(shoot, project, term) !== term.not
  })
}

function meets(shoot: Shoot, project: string, term: Term): boolean {
  if (!term.field) {
    const word = (term.values[0] ?? '').toLowerCase()
    return haystack(shoot, project).includes(word)
  }
  const has = (readers[term.field]?.(shoot, project) ?? []).flatMap((v) => (v ? [v.toLowerCase()] : []))
  return term.values.some((value) => {
    const wanted = value.toLowerCase()
    if (wanted === 'none') return has.length === 0
    if (term.field === 'version') return has.some((v) => v === wanted || v.startsWith(wanted + '.'))
    return has.some((v) => (partial.has(term.field!) ? v.includes(wanted) : v === wanted))
  })
}

function haystack(s: Shoot, project: string): string {
  return [
    s.metadata.name,
    project,
    s.spec.seedName,
    s.spec.region,
    s.spec.provider.type,
    profileName(s),
    s.spec.kubernetes.version,
    s.spec.purpose,
    stateOf(s),
  ]
    .join(' ')
    .toLowerCase()
}

/** Sets or removes one field in a search, for filters that are pressed. */
export function withField(text: string, field: string, value: string | undefined): string {
  const kept = text.replace(new RegExp(`(^|\\s)-?${field}:("[^"]*"?|\\S+)`, 'gi'), ' ')
  const next = value ? `${kept} ${field}:${/\s/.test(value) ? `"${value}"` : value}` : kept
  return next.trim().replace(/\s+/g, ' ')
}

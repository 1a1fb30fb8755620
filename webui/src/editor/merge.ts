// SPDX-License-Identifier: Apache-2.0

type Json = unknown
type Fields = Record<string, Json>

function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function same(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => same(x, b[i]))
  if (!isFields(a) || !isFields(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((k) => k in b && same(a[k], b[k]))
}

/** What has to change to get from one object to another. A value of undefined removes a field. Lists count as one value. */
export function changes(from: Json, to: Json, path: string[] = []): { path: string[]; value: Json }[] {
  if (same(from, to)) return []
  if (!isFields(from) || !isFields(to)) return [{ path, value: to }]
  const keys = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...keys].flatMap((key) => {
    if (!(key in to)) return [{ path: [...path, key], value: undefined }]
    if (!(key in from)) return [{ path: [...path, key], value: to[key] }]
    return changes(from[key], to[key], [...path, key])
  })
}

function set(object: Fields, [key, ...rest]: string[], value: Json): Fields {
  if (key === undefined) return object
  const copy: Fields = { ...object }
  if (rest.length > 0) copy[key] = set(isFields(copy[key]) ? copy[key] : {}, rest, value)
  else if (value === undefined) delete copy[key]
  else copy[key] = value
  return copy
}

/** The result of putting my changes on top of theirs, and the fields that both have changed in different ways. */
export interface Merged<T> {
  object: T
  clashes: string[]
}

/** Repeats on theirs what has changed from base to mine. Where both changed a field, mine is taken and the field is named. */
export function mergeOnto<T>(base: T, mine: T, theirs: T): Merged<T> {
  const others = changes(base, theirs)
  let object = theirs as unknown as Fields
  const clashes: string[] = []
  for (const change of changes(base, mine)) {
    const overlapping = others.some((o) => overlaps(o.path, change.path) && !same(o.value, change.value))
    if (overlapping) clashes.push(change.path.join('.'))
    object = set(object, change.path, change.value)
  }
  return { object: object as unknown as T, clashes }
}

function overlaps(a: string[], b: string[]): boolean {
  const n = Math.min(a.length, b.length)
  return a.slice(0, n).every((x, i) => x === b[i])
}

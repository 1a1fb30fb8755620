// SPDX-License-Identifier: Apache-2.0

import { send, sendJSON } from './http'
import { readLines } from './lines'
import { path } from './resources'
import type { WatchHandlers } from './store'
import type { Fields, KubeList, KubeObject, Resource, WatchEvent } from './types'

const base = '/kube'

/** Names one object. */
export interface Ref {
  namespace?: string | undefined
  name: string
}

/** What to list or watch. */
export interface Selection {
  namespace?: string | undefined
  labelSelector?: string | undefined
  fieldSelector?: string | undefined
  /** The fields that are needed; the server leaves out all others. */
  fields?: Fields | undefined
}

/** How to write. */
export interface WriteOptions {
  dryRun?: boolean
}

function query(values: Record<string, string | number | boolean | undefined>): string {
  const q = new URLSearchParams()
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') q.set(key, String(value))
  }
  const text = q.toString()
  return text ? '?' + text : ''
}

function writing(o: WriteOptions): string {
  return query({ dryRun: o.dryRun ? 'All' : undefined, fieldManager: 'terrarium-ui', fieldValidation: 'Strict' })
}

export function list<T>(
  r: Resource,
  s: Selection,
  page: { limit?: number; continue?: string | undefined },
  signal?: AbortSignal,
): Promise<KubeList<T>> {
  const q = query({ ...page, labelSelector: s.labelSelector, fieldSelector: s.fieldSelector })
  return sendJSON(base + path(r, s.namespace) + q, { fields: s.fields, ...(signal ? { signal } : {}) })
}

/** Watches from a resource version until the server ends the stream. */
export async function watch<T>(
  r: Resource,
  s: Selection,
  resourceVersion: string,
  on: WatchHandlers<T>,
  signal: AbortSignal,
): Promise<void> {
  const q = query({
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    labelSelector: s.labelSelector,
    fieldSelector: s.fieldSelector,
  })
  const answer = await send(base + path(r, s.namespace) + q, { signal, fields: s.fields })
  on.open()
  if (answer.body) await readLines<WatchEvent<T>>(answer.body, on.take)
}

export function get<T extends KubeObject>(r: Resource, ref: Ref): Promise<T> {
  return sendJSON(base + path(r, ref.namespace, ref.name))
}

export function create<T>(
  r: Resource,
  namespace: string | undefined,
  object: unknown,
  o: WriteOptions = {},
): Promise<T> {
  return sendJSON(base + path(r, namespace) + writing(o), { method: 'POST', body: JSON.stringify(object) })
}

/** Creates a subresource of an object, such as a kubeconfig, and returns the answer. */
export function createSub<T>(r: Resource, ref: Ref, subresource: string, object: unknown): Promise<T> {
  return sendJSON(base + path(r, ref.namespace, ref.name, subresource), {
    method: 'POST',
    body: JSON.stringify(object),
  })
}

/** Replaces an object; its resource version makes the server refuse it if somebody else was faster. */
export function replace<T extends KubeObject>(r: Resource, object: T, o: WriteOptions = {}): Promise<T> {
  const { namespace, name } = object.metadata
  return sendJSON(base + path(r, namespace, name) + writing(o), { method: 'PUT', body: JSON.stringify(object) })
}

/** Applies a merge patch: a null removes a field. */
export function patch<T>(r: Resource, ref: Ref, change: unknown, o: WriteOptions = {}): Promise<T> {
  return sendJSON(base + path(r, ref.namespace, ref.name) + writing(o), {
    method: 'PATCH',
    body: JSON.stringify(change),
    contentType: 'application/merge-patch+json',
  })
}

export async function remove(r: Resource, ref: Ref, o: WriteOptions = {}): Promise<void> {
  await send(base + path(r, ref.namespace, ref.name) + query({ dryRun: o.dryRun ? 'All' : undefined }), {
    method: 'DELETE',
  })
}

// SPDX-License-Identifier: Apache-2.0

import { parseDocument, stringify } from 'yaml'

import type { KubeObject } from '@/kube/types'

/** An object as text, without what only the server writes. */
export function toText(object: KubeObject | Record<string, unknown>): string {
  return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** What people edit: the object without its status and without notes of clients and of the server. */
export function editable<T extends KubeObject>(object: T): T {
  const { status: _status, ...rest } = object as T & { status?: unknown }
  const { managedFields: _fields, ...metadata } = object.metadata
  return { ...rest, metadata } as unknown as T
}

/** A mistake in a text, with its place. */
export interface Mistake {
  message: string
  from: number
  to: number
}

/** Reads a text. It has to be one object. */
export function fromText<T>(text: string): { object?: T; mistakes: Mistake[] } {
  const document = parseDocument(text, { prettyErrors: true })
  const mistakes = document.errors.map((e) => ({
    message: (e.message.split('\n')[0] ?? e.code).replace(/:$/, ''),
    from: e.pos[0],
    to: Math.max(e.pos[1], e.pos[0] + 1),
  }))
  if (mistakes.length > 0) return { mistakes }
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { mistakes: [{ message: 'not an object', from: 0, to: Math.min(1, text.length) }] }
  }
  return { object: value as T, mistakes: [] }
}

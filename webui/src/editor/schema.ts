// SPDX-License-Identifier: Apache-2.0

import type { CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'

import { sendJSON } from '@/kube/http'
import type { Resource } from '@/kube/types'

/** A part of the OpenAPI document of a group. */
export interface Schema {
  $ref?: string
  allOf?: Schema[]
  type?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  enum?: string[]
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[]
}

/** All schemas of a group by name. */
export type Schemas = Record<string, Schema>

const documents = new Map<string, Promise<Schemas>>()

function load(r: Resource): Promise<Schemas> {
  const place = r.group ? `apis/${r.group}/${r.version}` : `api/${r.version}`
  let found = documents.get(place)
  if (!found) {
    found = sendJSON<{ components: { schemas: Schemas } }>(`/kube/openapi/v3/${place}`).then(
      (d) => d.components.schemas,
    )
    documents.set(place, found)
    found.catch(() => documents.delete(place))
  }
  return found
}

/** Follows references until there is a schema with content. */
export function resolve(schema: Schema | undefined, all: Schemas): Schema | undefined {
  for (let depth = 0; schema && depth < 10; depth++) {
    const ref = schema.$ref ?? schema.allOf?.[0]?.$ref
    if (!ref) return schema
    const next: Schema | undefined = all[ref.slice(ref.lastIndexOf('/') + 1)]
    schema = next && { ...next, ...(schema.description ? { description: schema.description } : {}) }
  }
  return schema
}

/** The schema at a path of field names; items of lists have no name of their own. */
export function at(root: Schema | undefined, path: string[], all: Schemas): Schema | undefined {
  let schema = resolve(root, all)
  const intoItems = () => {
    while (schema?.items) schema = resolve(schema.items, all)
  }
  for (const name of path) {
    intoItems()
    const more = schema?.additionalProperties
    schema = resolve(schema?.properties?.[name] ?? (typeof more === 'object' ? more : undefined), all)
  }
  intoItems()
  return schema
}

/** The names of the fields around a place in a YAML text, found by indentation, and what is being written there. */
export function placeOf(lines: string[], row: number): { path: string[]; key?: string } {
  const current = lines[row] ?? ''
  const written = /^(\s*(?:- )*)(?:([\w./-]+):\s)?/.exec(current)
  let indent = written?.[1]?.length ?? 0
  const path: string[] = []
  for (let i = row - 1; i >= 0 && indent > 0; i--) {
    const found = /^(\s*(?:- )*)([\w./-]+):/.exec(lines[i] ?? '')
    if (!found || (lines[i] ?? '').trimStart().startsWith('#')) continue
    const own = found[1]!.length
    const dash = /^\s*- /.test(lines[i]!)
    // The items of a list may stand as deep as the field that holds them.
    const holds = own < indent || (own === indent - 2 && dash)
    if (!holds) continue
    path.unshift(found[2]!)
    indent = dash ? own - 2 : own
    if (/^\s*- /.test(lines[i]!) && indent < 0) indent = 0
  }
  return written?.[2] ? { path, key: written[2] } : { path }
}

/** Completes the fields and values of a kind, with their descriptions. */
export function schemaCompletion(r: Resource): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[\w./-]*/)
    if (!word || (word.from === word.to && !context.explicit)) return null
    let all: Schemas
    try {
      all = await load(r)
    } catch {
      return null // Without the schema the editor works all the same.
    }
    const root = Object.values(all).find((s) =>
      s['x-kubernetes-group-version-kind']?.some(
        (k) => k.kind === r.kind && k.group === r.group && k.version === r.version,
      ),
    )
    const lines = context.state.doc.toString().split('\n')
    const { path, key } = placeOf(lines, context.state.doc.lineAt(context.pos).number - 1)
    const schema = at(root, key ? [...path, key] : path, all)
    if (key) {
      const values = schema?.enum ?? (schema?.type === 'boolean' ? ['true', 'false'] : [])
      return { from: word.from, options: values.map((label) => ({ label, type: 'enum' })) }
    }
    const options = Object.entries(schema?.properties ?? {}).map(([label, property]) => {
      const type = resolve(property, all)?.type
      const tail = type === 'object' || type === 'array' ? ':\n' : ': '
      return {
        label,
        type: 'property',
        detail: type ?? 'object',
        info: property.description ?? '',
        apply: label + tail.trimEnd() + (tail === ': ' ? ' ' : ''),
      }
    })
    return { from: word.from, options, validFor: /^[\w./-]*$/ }
  }
}

// SPDX-License-Identifier: Apache-2.0

import { asRequestError, fromStatus, RequestError } from './errors'
import type { Fields, StatusBody } from './types'

const writes = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** What a request needs of the session. The CSRF token lives in memory only. */
export interface Guard {
  csrf(): string
  signedOut(): void
  /** The garden did what was asked, and has something to say about it. */
  warned(text: string): void
}

let guard: Guard = { csrf: () => '', signedOut: () => {}, warned: () => {} }

/** Says where requests get their CSRF token, and whom to tell when the session has ended. */
export function guardRequests(g: Guard): void {
  guard = g
}

/** Options of one request. */
export interface RequestOptions {
  method?: string
  body?: string
  contentType?: string
  accept?: string
  /** The fields of objects that are needed. */
  fields?: Fields | undefined
  signal?: AbortSignal
}

/** Sends a request below /ui and returns the answer, or throws a RequestError. */
export async function send(path: string, o: RequestOptions = {}): Promise<Response> {
  const method = o.method ?? 'GET'
  const headers: Record<string, string> = { Accept: o.accept ?? 'application/json' }
  if (o.body !== undefined) headers['Content-Type'] = o.contentType ?? 'application/json'
  if (writes.has(method)) headers['X-CSRF-Token'] = guard.csrf()
  if (o.fields) headers['X-Terrarium-Fields'] = JSON.stringify(o.fields)
  let answer: Response
  try {
    answer = await fetch('/ui' + path, {
      method,
      headers,
      credentials: 'same-origin',
      redirect: 'error',
      ...(o.body === undefined ? {} : { body: o.body }),
      ...(o.signal ? { signal: o.signal } : {}),
    })
  } catch (thrown) {
    if (o.signal?.aborted) throw thrown
    throw asRequestError(thrown)
  }
  if (!answer.ok) throw await failure(answer)
  if (writes.has(method)) for (const text of warnings(answer.headers.get('Warning'))) guard.warned(text)
  return answer
}

/** Sends a request and reads the answer as JSON. */
export async function sendJSON<T>(path: string, o: RequestOptions = {}): Promise<T> {
  const answer = await send(path, o)
  const text = await answer.text()
  try {
    return (text ? JSON.parse(text) : undefined) as T
  } catch {
    throw new RequestError('broken', `The answer is not JSON: ${text.slice(0, 200)}`, answer.status)
  }
}

/** The texts of a Warning header, which has the form 299 - "text", 299 - "text". */
export function warnings(header: string | null): string[] {
  const found = [...(header ?? '').matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)]
  return [...new Set(found.map(([, text = '']) => text.replace(/\\(.)/g, '$1')))]
}

async function failure(answer: Response): Promise<RequestError> {
  const text = await answer.text().catch(() => '')
  let body: StatusBody | undefined
  try {
    const parsed: unknown = JSON.parse(text)
    if (parsed && typeof parsed === 'object') body = parsed as StatusBody
  } catch {
    // The answer is a plain text.
  }
  const error = fromStatus(answer.status, body, text.trim().slice(0, 500))
  if (error.kind === 'signed-out') guard.signedOut()
  return error
}

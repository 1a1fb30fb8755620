// SPDX-License-Identifier: Apache-2.0

import { t } from '@/text/en'

import type { StatusBody } from './types'

/** What kind of failure it is, which decides how a page shows it and whether it tries again. */
export type FailureKind =
  | 'unreachable'
  | 'signed-out'
  | 'forbidden'
  | 'missing'
  | 'conflict'
  | 'exists'
  | 'invalid'
  | 'expired'
  | 'busy'
  | 'refused'
  | 'broken'

/** A request that failed: the API's own words, and ours. */
export class RequestError extends Error {
  override readonly name = 'RequestError'

  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly code = 0,
    readonly status?: StatusBody,
  ) {
    super(message)
  }

  /** What it means, in one plain sentence. */
  get explanation(): string {
    return t.failure[this.kind]
  }

  /** What to write about it: the fields that are wrong, or the API's message. */
  get details(): string[] {
    const causes = this.status?.details?.causes ?? []
    const texts = causes.map((c) => [c.field, c.message].filter(Boolean).join(': ')).filter(Boolean)
    return texts.length > 0 ? texts : [this.message]
  }

  /** Whether the same request may succeed later without a change. */
  get passing(): boolean {
    return this.kind === 'unreachable' || this.kind === 'busy' || this.kind === 'broken'
  }
}

/** Makes an error of an answer that is not a success. */
export function fromStatus(code: number, body: StatusBody | undefined, text: string): RequestError {
  const message = body?.message || text || `HTTP ${code}`
  const kind = kindOf(body?.code ?? code, body?.reason)
  return new RequestError(kind === 'forbidden' && judged(message) ? 'refused' : kind, message, code, body)
}

/** Makes an error of anything that was thrown. */
export function asRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new RequestError('unreachable', message)
}

// Who lacks a permission is named. Without a name, what is in the object was refused, for which no role is of help.
const judged = (message: string) => / is forbidden: (?!User ")/i.test(message)

function kindOf(code: number, reason?: string): FailureKind {
  switch (code) {
    case 401:
      return 'signed-out'
    case 403:
      return 'forbidden'
    case 404:
      return 'missing'
    case 409:
      return reason === 'AlreadyExists' ? 'exists' : 'conflict'
    case 410:
      return 'expired'
    case 422:
    case 400:
      return 'invalid'
    case 429:
    case 503:
    case 504:
      return 'busy'
    default:
      return code >= 500 ? 'broken' : 'refused'
  }
}

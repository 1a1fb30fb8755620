// SPDX-License-Identifier: Apache-2.0

/** An event of the audit log: who did what, and what came of it. */
export interface AuditEvent {
  auditID: string
  stage: string
  requestURI: string
  verb: string
  user: { username: string; groups?: string[] }
  impersonatedUser?: { username: string }
  sourceIPs?: string[]
  userAgent?: string
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string; apiGroup?: string }
  responseStatus?: { code?: number; message?: string }
  requestReceivedTimestamp: string
  stageTimestamp: string
  annotations?: Record<string, string>
}

/** What came of a request. */
export type Outcome = 'succeeded' | 'denied' | 'failed'

/** An event is known by its id and its stage: long requests have an event at their start as well. */
export const keyOf = (e: AuditEvent): string => e.auditID + '.' + e.stage

export function outcomeOf(e: AuditEvent): Outcome {
  const code = e.responseStatus?.code ?? 0
  if (code === 401 || code === 403) return 'denied'
  return code >= 400 ? 'failed' : 'succeeded'
}

/** The resource of a request with its subresource, or the path if there is none. */
export function subjectOf(e: AuditEvent): string {
  const { resource, subresource } = e.objectRef ?? {}
  if (!resource) return e.requestURI.split('?')[0] ?? ''
  return subresource ? `${resource}/${subresource}` : resource
}

/** The object of a request with its namespace. */
export function objectOf(e: AuditEvent): string {
  return [e.objectRef?.namespace, e.objectRef?.name].filter(Boolean).join('/')
}

/**
 * The address that a request came from. It is the last one: those before it are what the client said, in X-Forwarded-For, and
 * can be those of others.
 */
export const sourceOf = (e: AuditEvent): string | undefined => e.sourceIPs?.at(-1)

/** The addresses that a client said it came from. */
export const claimedOf = (e: AuditEvent): string[] => e.sourceIPs?.slice(0, -1) ?? []

/** Whether somebody searched the audit log. */
export const isSearch = (e: AuditEvent): boolean => !e.objectRef && subjectOf(e) === '/appliance/audit'

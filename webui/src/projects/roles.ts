// SPDX-License-Identifier: Apache-2.0

import type { Member, Project, Subject } from './types'

/** The roles of a project. A role of an extension has the form extension:<name>. */
export const roles = ['admin', 'viewer', 'uam', 'serviceaccountmanager', 'owner'] as const

/** All roles of a member; the first one has a field of its own for the sake of older clients. */
export function rolesOf(member: Member): string[] {
  return [...new Set([member.role, ...(member.roles ?? [])].filter(Boolean))]
}

/** A member with these roles. */
export function withRoles(subject: Subject, list: string[]): Member {
  const [role = 'viewer', ...more] = list
  const { kind, name, namespace } = subject
  return {
    kind,
    name,
    ...(kind === 'ServiceAccount' ? { namespace: namespace ?? '' } : { apiGroup: 'rbac.authorization.k8s.io' }),
    role,
    ...(more.length > 0 ? { roles: more } : {}),
  }
}

function same(a: Subject, b: Subject): boolean {
  return a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '')
}

/** The members after one was added or changed; without roles the member is removed. */
export function changeMember(project: Project, subject: Subject, list: string[]): Member[] {
  const members = project.spec.members ?? []
  if (list.length === 0) return members.filter((m) => !same(m, subject))
  if (!members.some((m) => same(m, subject))) return [...members, withRoles(subject, list)]
  return members.map((m) => (same(m, subject) ? withRoles(subject, list) : m))
}

/** Reads what somebody typed: a user, a group, or a service account as system:serviceaccount:<namespace>:<name>. */
export function readSubject(kind: Subject['kind'], text: string, namespace: string): Subject {
  const name = text.trim()
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name)
  if (account) return { kind: 'ServiceAccount', namespace: account[1]!, name: account[2]! }
  return kind === 'ServiceAccount' ? { kind, namespace, name } : { kind, name }
}

/** A name that a project may have: it becomes a part of other names. */
export function validProjectName(name: string): boolean {
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name) && name.length <= 10 && !name.includes('--')
}

// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest'

import { fromText } from '@/editor/document'
import { accountKubeconfig } from '@/projects/kubeconfig'
import { quantity } from '@/projects/quantity'
import { changeMember, readSubject, rolesOf, validProjectName } from '@/projects/roles'
import type { Project } from '@/projects/types'
import { shootFixture } from '@/shoots/testing'
import type { Shoot } from '@/shoots/types'
import type { CloudProfile } from '@/shoots/versions'

import { cloneOf, newDraft, partOf, setField, setPart } from './draft'

const now = Date.parse('2026-06-01T00:00:00Z')
const profile: CloudProfile = {
  metadata: { name: 'cloud', uid: 'p', resourceVersion: '1', creationTimestamp: '' },
  spec: {
    type: 'never-heard-of',
    kubernetes: {
      versions: [{ version: '1.37.0', classification: 'preview' }, { version: '1.36.10' }, { version: '1.36.9' }],
    },
    machineImages: [{ name: 'linux', versions: [{ version: '2.0.0' }, { version: '1.0.0' }] }],
    machineTypes: [
      { name: 'retired', cpu: '1', memory: '1Gi', usable: false },
      { name: 'small', cpu: '2', memory: '4Gi' },
    ],
    volumeTypes: [{ name: 'ssd' }],
    regions: [{ name: 'north', zones: [{ name: 'a' }, { name: 'b' }] }],
  },
}

describe('newDraft', () => {
  it('takes what the profile offers, for a provider that it does not know too', () => {
    const text = newDraft(profile, { namespace: 'garden-meadow', name: 'web', binding: 'key', network: 'calico', now })
    expect(fromText<Shoot>(text).object).toEqual({
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'Shoot',
      metadata: { name: 'web', namespace: 'garden-meadow' },
      spec: {
        purpose: 'evaluation',
        cloudProfile: { kind: 'CloudProfile', name: 'cloud' },
        region: 'north',
        credentialsBindingName: 'key',
        kubernetes: { version: '1.36.10' },
        networking: { type: 'calico' },
        provider: {
          type: 'never-heard-of',
          workers: [
            {
              name: 'worker',
              machine: { type: 'small', image: { name: 'linux', version: '2.0.0' } },
              minimum: 1,
              maximum: 2,
              volume: { type: 'ssd', size: '50Gi' },
              zones: ['a'],
            },
          ],
        },
      },
    })
  })
})

describe('a part that only the provider understands', () => {
  const path = ['spec', 'config']
  const part = '# why\nkind: Config # which\nparts:\n  - { a: 1 } # one\n'
  it('is shown as it is written, and comes back without loss', () => {
    const text = setPart('spec:\n  a: 1\n', path, part)
    expect(fromText(text).object).toEqual({ spec: { a: 1, config: { kind: 'Config', parts: [{ a: 1 }] } } })
    expect(partOf(text, path)).toBe(part)
    expect(setPart(text, path, partOf(text, path))).toBe(text)
  })
  it('is removed by an empty text', () => {
    expect(setPart('spec:\n  config: { a: 1 }\n  b: 1\n', path, ' \n')).toBe('spec:\n  b: 1\n')
    expect([partOf('spec: {}\n', path), partOf('spec:\n  config:\n', path)]).toEqual(['', ''])
  })
  it('changes nothing if it is no YAML', () => {
    expect(setPart('spec: {}\n', path, 'a: [')).toBe('spec: {}\n')
    expect(partOf('spec: [', path)).toBe('')
  })
})

describe('setField', () => {
  const text =
    '# my cluster\nspec:\n  unknown: {b: 1, a: 2} # kept\n  region: north # near\n  workers:\n    - name: one\n    - name: two\n'
  it('changes one field and keeps comments, order and what the form does not know', () => {
    expect(setField(text, ['spec', 'region'], 'south')).toBe(
      text.replace('north', 'south').replace('{b: 1, a: 2}', '{ b: 1, a: 2 }'),
    )
  })
  it('makes what is missing on the way', () => {
    expect(fromText(setField('spec: {}\n', ['spec', 'a', 'b'], 1)).object).toEqual({ spec: { a: { b: 1 } } })
  })
  it('quotes only what needs it', () => {
    expect(setField("a: ''\n", ['a'], 'lily')).toBe('a: lily\n')
    expect(setField('a: x\n', ['a'], '1.36')).toBe('a: "1.36"\n')
  })
  it('removes a field and an item', () => {
    expect(setField(text, ['spec', 'workers', 0], undefined)).not.toContain('one')
    expect(setField(text, ['spec', 'region'], '')).not.toContain('region')
  })
  it('leaves a text alone that cannot be read', () => expect(setField('a: [', ['a'], 1)).toBe('a: ['))
})

describe('cloneOf', () => {
  it('leaves out what belongs to the other cluster', () => {
    const shoot = shootFixture({ seed: 'eu-1' })
    shoot.metadata.annotations = { 'gardener.cloud/created-by': 'rose', 'example.org/team': 'web' }
    shoot.metadata.labels = {
      'name.seed.gardener.cloud/eu-1': 'true',
      'provider.extensions.gardener.cloud/local': 'true',
    }
    shoot.spec.hibernation = { enabled: true }
    shoot.spec.dns = { domain: 'sprout.example.org', providers: [] }
    const copy = fromText<Shoot>(cloneOf(shoot, 'copy')).object!
    expect(copy.metadata).toEqual({
      name: 'copy',
      namespace: 'garden-meadow',
      annotations: { 'example.org/team': 'web' },
    })
    expect(copy.spec).toMatchObject({
      hibernation: { enabled: false },
      dns: { providers: [] },
      kubernetes: { version: '1.36.3' },
    })
    expect(copy.spec.seedName).toBeUndefined()
    expect(copy).not.toHaveProperty('status')
    expect(shoot.spec.seedName).toBe('eu-1')
  })
})

describe('members', () => {
  const project = {
    spec: { members: [{ kind: 'User', name: 'rose', role: 'admin', roles: ['uam'] }] },
  } as unknown as Project
  it('are added, changed and removed', () => {
    const ivy = { kind: 'User', name: 'ivy' } as const
    expect(changeMember(project, ivy, ['viewer'])[1]).toEqual({
      ...ivy,
      apiGroup: 'rbac.authorization.k8s.io',
      role: 'viewer',
    })
    expect(changeMember(project, { kind: 'User', name: 'rose' }, ['viewer', 'uam'])).toMatchObject([
      { role: 'viewer', roles: ['uam'] },
    ])
    expect(changeMember(project, { kind: 'User', name: 'rose' }, [])).toEqual([])
    expect(changeMember(project, { kind: 'Group', name: 'rose' }, [])).toHaveLength(1)
  })
  it('have each role once', () =>
    expect(rolesOf({ kind: 'User', name: 'x', role: 'admin', roles: ['admin', 'uam'] })).toEqual(['admin', 'uam']))
  it('are service accounts by their long name', () => {
    expect(readSubject('User', ' system:serviceaccount:garden-a:robot ', 'x')).toEqual({
      kind: 'ServiceAccount',
      namespace: 'garden-a',
      name: 'robot',
    })
    expect(readSubject('ServiceAccount', 'robot', 'garden-b')).toMatchObject({ namespace: 'garden-b' })
  })
  it.each([
    ['meadow', true],
    ['a', true],
    ['', false],
    ['Meadow', false],
    ['a--b', false],
    ['-a', false],
    ['elevenchars', false],
  ])('project name %j: %s', (name, want) => expect(validProjectName(name)).toBe(want))
})

describe('quantity', () => {
  it.each([
    ['500m', 0.5],
    ['4Gi', 4 * 1024 ** 3],
    ['10', 10],
    ['2k', 2000],
    ['nonsense', 0],
  ])('%s', (text, want) => expect(quantity(text)).toBe(want))
})

it('a kubeconfig is named after what it opens', () => {
  const text = accountKubeconfig({
    server: 'https://garden',
    ca: 'PEM',
    namespace: 'garden-a',
    account: 'robot',
    token: 'secret',
  })
  expect(fromText(text).object).toMatchObject({
    'current-context': 'garden-a--robot',
    clusters: [{ cluster: { 'certificate-authority-data': btoa('PEM') } }],
  })
})

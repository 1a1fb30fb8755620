// SPDX-License-Identifier: Apache-2.0

import { Document, isNode, isScalar, parseDocument, stringify } from 'yaml'

import type { Shoot } from '@/shoots/types'
import { compareVersions, effective, expired, type CloudProfile, type OfferedVersion } from '@/shoots/versions'

/** A path to a field: names, and numbers for items of lists. */
export type Path = (string | number)[]

/**
 * Changes one field of a manifest and nothing else: comments, order and fields that the form does not know stay as they are.
 * A value of undefined removes the field.
 */
export function setField(text: string, path: Path, value: unknown): string {
  const document = parseDocument(text)
  if (document.errors.length > 0) return text
  const old: unknown = document.getIn(path, true)
  if (value === undefined || value === '') document.deleteIn(path)
  else if (isScalar(old) && (typeof value !== 'object' || value === null)) {
    // A comment belongs to the old value, so that the value changes within it. Quotes come where they are needed.
    old.value = value
    delete old.type
  } else document.setIn(path, document.createNode(value))
  return document.toString({ lineWidth: 0 })
}

/** A part of a manifest as text, with its comments; empty if it is not there. */
export function partOf(text: string, path: Path): string {
  const document = parseDocument(text)
  const node: unknown = document.errors.length > 0 ? undefined : document.getIn(path, true)
  if (!isNode(node) || (isScalar(node) && node.value === null)) return ''
  return new Document(node).toString({ lineWidth: 0 })
}

/** Replaces a part of a manifest by a text, with its comments, and nothing else. An empty text removes the part. */
export function setPart(text: string, path: Path, part: string): string {
  const document = parseDocument(text)
  const made = parseDocument(part)
  if (document.errors.length > 0 || made.errors.length > 0) return text
  if (made.contents === null) document.deleteIn(path)
  else {
    // Comments around everything belong to the document of the part, which goes.
    if (made.commentBefore) made.contents.commentBefore = made.commentBefore
    if (made.comment) made.contents.comment = made.comment
    document.setIn(path, made.contents)
  }
  return document.toString({ lineWidth: 0 })
}

/** The newest version that is neither deprecated nor a preview nor expired. */
export function newest(versions: OfferedVersion[] | undefined, now: number): string | undefined {
  const usable = (versions ?? []).filter((v) => !expired(v, now))
  const supported = usable.filter((v) => !v.classification || v.classification === 'supported')
  return (supported.length > 0 ? supported : usable).map((v) => v.version).sort((a, b) => compareVersions(b, a))[0]
}

/** The values with which a form begins for a profile. */
export function defaultsFor(profile: CloudProfile, now: number) {
  const spec = effective(profile)
  const machine = spec.machineTypes?.find((m) => m.usable !== false)
  const image = spec.machineImages?.[0]
  const volume = spec.volumeTypes?.find((v) => v.usable !== false)
  const region = spec.regions?.[0]
  return {
    type: spec.type,
    region: region?.name ?? '',
    zones: (region?.zones ?? []).slice(0, 1).map((z) => z.name),
    version: newest(spec.kubernetes?.versions, now) ?? '',
    machine: machine?.name ?? '',
    image: image?.name ?? '',
    imageVersion: newest(image?.versions, now) ?? '',
    volume: volume?.name,
  }
}

/** A worker group with the defaults of a profile. */
export function newWorker(profile: CloudProfile, name: string, now: number) {
  const d = defaultsFor(profile, now)
  return {
    name,
    machine: { type: d.machine, image: { name: d.image, version: d.imageVersion } },
    minimum: 1,
    maximum: 2,
    ...(d.volume ? { volume: { type: d.volume, size: '50Gi' } } : {}),
    ...(d.zones.length > 0 ? { zones: d.zones } : {}),
  }
}

/** A manifest with which a form begins. */
export function newDraft(
  profile: CloudProfile,
  o: { namespace: string; name: string; binding: string; network: string; now: number },
): string {
  const d = defaultsFor(profile, o.now)
  return stringify(
    {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'Shoot',
      metadata: { name: o.name, namespace: o.namespace },
      spec: {
        purpose: 'evaluation',
        cloudProfile: {
          kind: profile.kind === 'NamespacedCloudProfile' ? profile.kind : 'CloudProfile',
          name: profile.metadata.name,
        },
        region: d.region,
        ...(o.binding ? { credentialsBindingName: o.binding } : {}),
        kubernetes: { version: d.version },
        networking: { type: o.network },
        provider: { type: d.type, workers: [newWorker(profile, 'worker', o.now)] },
      },
    },
    { lineWidth: 0 },
  )
}

// What belongs to one cluster only, and would be wrong in another.
const own =
  /^(gardener\.cloud\/|shoot\.gardener\.cloud\/|confirmation\.gardener\.cloud\/|kubectl\.kubernetes\.io\/|deletion\.gardener\.cloud\/|maintenance\.)/

/** A manifest that orders a cluster like another one. */
export function cloneOf(shoot: Shoot, name: string): string {
  const keep = (all: Record<string, string> | undefined) => {
    const kept = Object.entries(all ?? {}).filter(
      ([key]) =>
        !own.test(key) &&
        !/^(name\.seed|provider\.extensions|networking\.extensions|operatingsystemconfig\.extensions|.*\.extensions)\.gardener\.cloud\//.test(
          key,
        ),
    )
    return kept.length > 0 ? Object.fromEntries(kept) : undefined
  }
  const { seedName: _seed, ...spec } = structuredClone(shoot.spec) as Shoot['spec'] & { dns?: { domain?: string } }
  if (spec.hibernation) spec.hibernation = { ...spec.hibernation, enabled: false }
  if (spec.dns) delete spec.dns.domain
  const labels = keep(shoot.metadata.labels)
  const annotations = keep(shoot.metadata.annotations)
  const metadata = {
    name,
    namespace: shoot.metadata.namespace,
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
  }
  return stringify(
    { apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot', metadata, spec },
    { lineWidth: 0, aliasDuplicateObjects: false },
  )
}

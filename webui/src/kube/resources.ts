// SPDX-License-Identifier: Apache-2.0

import type { Resource } from './types'

function resource(group: string, version: string, plural: string, kind: string, namespaced: boolean): Resource {
  return { group, version, plural, kind, namespaced }
}

const core = (plural: string, kind: string, namespaced: boolean) =>
  resource('core.gardener.cloud', 'v1beta1', plural, kind, namespaced)

export const shoots = core('shoots', 'Shoot', true)
export const seeds = core('seeds', 'Seed', false)
export const projects = core('projects', 'Project', false)
export const cloudProfiles = core('cloudprofiles', 'CloudProfile', false)
export const namespacedCloudProfiles = core('namespacedcloudprofiles', 'NamespacedCloudProfile', true)
export const controllerRegistrations = core('controllerregistrations', 'ControllerRegistration', false)
export const controllerInstallations = core('controllerinstallations', 'ControllerInstallation', false)
export const secretBindings = core('secretbindings', 'SecretBinding', true)
export const quotas = core('quotas', 'Quota', true)
export const exposureClasses = core('exposureclasses', 'ExposureClass', false)
export const credentialsBindings = resource(
  'security.gardener.cloud',
  'v1alpha1',
  'credentialsbindings',
  'CredentialsBinding',
  true,
)
export const managedSeeds = resource('seedmanagement.gardener.cloud', 'v1alpha1', 'managedseeds', 'ManagedSeed', true)
export const bastions = resource('operations.gardener.cloud', 'v1alpha1', 'bastions', 'Bastion', true)
export const timelines = resource('appliance.gardener.cloud', 'v1alpha1', 'timelines', 'TimelineEntry', true)
export const snapshots = resource('appliance.gardener.cloud', 'v1alpha1', 'snapshots', 'Snapshot', false)
export const events = resource('', 'v1', 'events', 'Event', true)
export const secrets = resource('', 'v1', 'secrets', 'Secret', true)
export const serviceAccounts = resource('', 'v1', 'serviceaccounts', 'ServiceAccount', true)
export const configMaps = resource('', 'v1', 'configmaps', 'ConfigMap', true)
export const resourceQuotas = resource('', 'v1', 'resourcequotas', 'ResourceQuota', true)
export const leases = resource('coordination.k8s.io', 'v1', 'leases', 'Lease', true)
export const signingRequests = resource(
  'certificates.k8s.io',
  'v1',
  'certificatesigningrequests',
  'CertificateSigningRequest',
  false,
)
export const accessReviews = resource(
  'authorization.k8s.io',
  'v1',
  'selfsubjectaccessreviews',
  'SelfSubjectAccessReview',
  false,
)

/** The apiVersion of a collection. */
export function apiVersion(r: Resource): string {
  return r.group ? `${r.group}/${r.version}` : r.version
}

/** The path of a collection, an object or a subresource. Without a namespace it is the collection over all namespaces. */
export function path(r: Resource, namespace?: string, name?: string, subresource?: string): string {
  const parts = r.group ? ['apis', r.group, r.version] : ['api', r.version]
  if (r.namespaced && namespace) parts.push('namespaces', namespace)
  parts.push(r.plural)
  if (name) parts.push(name)
  if (subresource) parts.push(subresource)
  return '/' + parts.map(encodeURIComponent).join('/')
}

// SPDX-License-Identifier: Apache-2.0

import { stringify } from 'yaml'

/** What a kubeconfig of a service account needs. */
export interface AccountAccess {
  server: string
  ca: string
  namespace: string
  account: string
  token: string
}

/** A kubeconfig of the garden for a service account. Its context is named after what it opens. */
export function accountKubeconfig(a: AccountAccess): string {
  const context = `${a.namespace}--${a.account}`
  const bytes = new TextEncoder().encode(a.ca)
  const ca = btoa(String.fromCharCode(...bytes))
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'garden', cluster: { server: a.server, ...(a.ca ? { 'certificate-authority-data': ca } : {}) } },
    ],
    users: [{ name: a.account, user: { token: a.token } }],
    contexts: [{ name: context, context: { cluster: 'garden', user: a.account, namespace: a.namespace } }],
    'current-context': context,
  })
}

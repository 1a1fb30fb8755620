// SPDX-License-Identifier: Apache-2.0

/** The metadata of an object, as far as the pages use it. */
export interface Meta {
  name: string
  namespace?: string
  uid: string
  resourceVersion: string
  generation?: number
  creationTimestamp: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  managedFields?: unknown
}

/** Any object of the API. */
export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: Meta
}

/** A page of a list. */
export interface KubeList<T> {
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  items: T[] | null
}

/** A Status, which the API returns instead of an object when something went wrong. */
export interface StatusBody {
  kind: 'Status'
  code?: number
  reason?: string
  message?: string
  details?: { causes?: { field?: string; message?: string; reason?: string }[]; retryAfterSeconds?: number }
}

/** One line of a watch. */
export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; object: { metadata: { resourceVersion: string } } }
  | { type: 'ERROR'; object: StatusBody }

/** A tree of fields, such as {spec: {region: true}}. In lists they are those of each element. */
export interface Fields {
  [name: string]: true | Fields
}

/** Names a collection of the API. */
export interface Resource {
  group: string
  version: string
  plural: string
  kind: string
  namespaced: boolean
}

/** A condition or constraint in a status. */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown' | 'Progressing'
  reason?: string
  message?: string
  lastTransitionTime?: string
  lastUpdateTime?: string
  codes?: string[]
}

/** An error in a status. */
export interface LastError {
  description: string
  taskID?: string
  codes?: string[]
  lastUpdateTime?: string
}

/** What the garden does, or last did, with an object. */
export interface LastOperation {
  type: 'Create' | 'Reconcile' | 'Delete' | 'Migrate' | 'Restore'
  state: 'Processing' | 'Succeeded' | 'Error' | 'Failed' | 'Pending' | 'Aborted'
  progress: number
  description?: string
  lastUpdateTime: string
}

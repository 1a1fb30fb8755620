// SPDX-License-Identifier: Apache-2.0

import { Boxes, Cloud, FolderKanban, House, Puzzle, Sprout, Wrench } from '@lucide/vue'
import type { Component } from 'vue'
import type { RouteLocationRaw } from 'vue-router'

import { t } from '@/text/en'

/** A part of the application, with its place in the side bar. */
export interface Section {
  id: string
  label: string
  icon: Component
  /** The page of the section, for the present project if it has one for each. */
  to: (namespace?: string) => RouteLocationRaw
  /** Whether a route belongs to the section. */
  owns: (route: string) => boolean
  /** The second key after g. */
  key?: string
  admin?: boolean
}

const simple = (id: string, label: string, icon: Component, key: string, routes: string[]): Section => ({
  id,
  label,
  icon,
  key,
  to: () => ({ name: id }),
  owns: (route) => routes.includes(route),
})

export const sections: Section[] = [
  simple('home', t.shell.home, House, 'h', ['home']),
  {
    id: 'shoots',
    label: t.shell.shoots,
    icon: Boxes,
    key: 's',
    to: (namespace) => (namespace ? { name: 'shoots', params: { namespace } } : { name: 'all-shoots' }),
    owns: (route) => ['all-shoots', 'shoots', 'shoot', 'new-shoot'].includes(route),
  },
  simple('seeds', t.shell.seeds, Sprout, 'e', ['seeds', 'seed']),
  simple('projects', t.shell.projects, FolderKanban, 'p', ['projects', 'project']),
  simple('profiles', t.shell.profiles, Cloud, 'c', ['profiles', 'profile']),
  simple('extensions', t.shell.extensions, Puzzle, 'x', ['extensions', 'extension']),
  { ...simple('operations', t.shell.operations, Wrench, 'o', ['operations']), admin: true },
]

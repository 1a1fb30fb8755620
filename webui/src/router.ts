// SPDX-License-Identifier: Apache-2.0

import { createRouter, createWebHistory, type RouteRecordRaw } from 'vue-router'

import { lazy } from '@/design/lazy'
import { failed } from '@/design/toasts'
import { resume, session } from '@/session/session'
import SignInPage from '@/session/SignInPage.vue'
import AppShell from '@/shell/AppShell.vue'
import { t } from '@/text/en'

const pages: RouteRecordRaw[] = [
  { path: '', name: 'home', component: lazy(() => import('@/home/HomePage.vue')), meta: { title: t.shell.home } },
  {
    path: 'shoots',
    name: 'all-shoots',
    component: lazy(() => import('@/shoots/ShootsPage.vue')),
    meta: { title: t.shell.shoots },
  },
  {
    path: 'projects/:namespace/shoots',
    name: 'shoots',
    component: lazy(() => import('@/shoots/ShootsPage.vue')),
    meta: { title: t.shell.shoots },
  },
  {
    path: 'projects/:namespace/new-shoot',
    name: 'new-shoot',
    component: lazy(() => import('@/create/CreatePage.vue')),
    meta: { title: t.shoots.create },
  },
  {
    path: 'projects/:namespace/shoots/:name/:tab?',
    name: 'shoot',
    component: lazy(() => import('@/shoots/ShootPage.vue')),
    meta: { title: t.shell.shoots },
  },
  {
    path: 'seeds',
    name: 'seeds',
    component: lazy(() => import('@/seeds/SeedsPage.vue')),
    meta: { title: t.shell.seeds },
  },
  {
    path: 'seeds/:name/:tab?',
    name: 'seed',
    component: lazy(() => import('@/seeds/SeedPage.vue')),
    meta: { title: t.shell.seeds },
  },
  {
    path: 'projects',
    name: 'projects',
    component: lazy(() => import('@/projects/ProjectsPage.vue')),
    meta: { title: t.shell.projects },
  },
  {
    path: 'projects/:namespace/:tab?',
    name: 'project',
    component: lazy(() => import('@/projects/ProjectPage.vue')),
    meta: { title: t.shell.projects },
  },
  {
    path: 'cloudprofiles',
    name: 'profiles',
    component: lazy(() => import('@/profiles/ProfilesPage.vue')),
    meta: { title: t.shell.profiles },
  },
  {
    path: 'cloudprofiles/:name/:tab?',
    name: 'profile',
    component: lazy(() => import('@/profiles/ProfilePage.vue')),
    meta: { title: t.shell.profiles },
  },
  {
    path: 'extensions',
    name: 'extensions',
    component: lazy(() => import('@/extensions/ExtensionsPage.vue')),
    meta: { title: t.shell.extensions },
  },
  {
    path: 'extensions/:name/:tab?',
    name: 'extension',
    component: lazy(() => import('@/extensions/ExtensionPage.vue')),
    meta: { title: t.shell.extensions },
  },
  {
    path: 'operations/:tab?',
    name: 'operations',
    component: lazy(() => import('@/operations/OperationsPage.vue')),
    meta: { title: t.shell.operations },
  },
  { path: ':rest(.*)*', name: 'not-found', component: lazy(() => import('@/shell/NotFound.vue')) },
]

export const router = createRouter({
  history: createWebHistory('/ui/'),
  routes: [
    { path: '/sign-in', name: 'sign-in', component: SignInPage, meta: { open: true, title: t.signIn.submit } },
    { path: '/', component: AppShell, children: pages },
  ],
})

let asked = false

router.beforeEach(async (to) => {
  if (to.meta.open || session.value) return true
  if (!asked) {
    asked = true
    // The page is loaded meanwhile.
    for (const { components } of to.matched) {
      if (typeof components?.default === 'function')
        void (components.default as () => Promise<unknown>)().catch(() => {})
    }
    if (await resume().catch(() => (asked = false))) return true
  }
  return { name: 'sign-in', query: to.fullPath === '/' ? {} : { to: to.fullPath } }
})

// A page is loaded when it is first opened, which fails while the garden is away.
router.onError((thrown) => failed(t.shell.pageFailed, thrown))

router.afterEach((to) => {
  const parts = [to.params.name, to.meta.title, t.app].filter((p): p is string => typeof p === 'string' && p !== '')
  document.title = parts.join(' · ')
})

// SPDX-License-Identifier: Apache-2.0

import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'

import { leaveSession } from './leave'
import { session, signIn } from './session'

afterEach(() => vi.unstubAllGlobals())

it.each([
  ['stays', false, '/', ['POST'], 'alice'],
  ['goes', true, '/sign-in', ['POST', 'DELETE'], undefined],
])('who %s is signed in or not', async (_, goes, where, sent, who) => {
  const methods: string[] = []
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
    methods.push(init.method ?? 'GET')
    const body = { user: { name: 'alice' }, csrf: 'c', expires: '', admin: false }
    return Promise.resolve(init.method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json(body))
  })
  const page = { render: () => null }
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: page },
      { path: '/sign-in', name: 'sign-in', component: page },
    ],
  })
  await router.push('/')
  await signIn({ token: 't' })
  const asked: (string | undefined)[] = []
  router.beforeEach(() => {
    asked.push(session.value?.user.name)
    return goes
  })
  await leaveSession(router)
  expect([asked, router.currentRoute.value.path, methods, session.value?.user.name]).toEqual([
    ['alice'],
    where,
    sent,
    who,
  ])
})

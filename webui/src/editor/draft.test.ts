// SPDX-License-Identifier: Apache-2.0

import { afterEach, expect, it, vi } from 'vitest'
import { createApp, h, nextTick } from 'vue'
import { createMemoryHistory, createRouter, RouterView } from 'vue-router'

import { seeds } from '@/kube/resources'
import { session, signIn, signOut } from '@/session/session'

import ObjectEditor from './ObjectEditor.vue'

// The editor needs a real browser to measure its lines.
vi.mock('./CodeEditor.vue', () => ({
  default: {
    props: ['modelValue'],
    emits: ['update:modelValue'],
    render(this: { modelValue: string; $emit: (name: string, text: string) => void }) {
      const oninput = (e: Event) => this.$emit('update:modelValue', (e.target as HTMLTextAreaElement).value)
      return h('textarea', { value: this.modelValue, onInput: oninput })
    },
  },
}))

afterEach(() => vi.unstubAllGlobals())

it.each([
  ['comes back to who wrote it', 'alice', true],
  ['is not shown to others', 'bob', false],
])('the text of an ended session %s', async (_, next, back) => {
  let user = 'alice'
  const seed = {
    apiVersion: 'v1beta1',
    kind: 'Seed',
    metadata: { name: 'eu-1', uid: 'u', resourceVersion: '1' },
    spec: {},
  }
  vi.stubGlobal('fetch', (url: string, init?: RequestInit) => {
    if (init?.method === 'DELETE') return Promise.resolve(new Response(null, { status: 204 }))
    return Promise.resolve(
      Response.json(url.includes('/session') ? { user: { name: user }, csrf: 'c', expires: '', admin: false } : seed),
    )
  })
  await signIn({ token: 't' })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: { render: () => h(ObjectEditor, { resource: seeds, name: 'eu-1' }) } },
      { path: '/sign-in', component: { render: () => null } },
    ],
  })
  const root = document.createElement('div')
  const app = createApp({ render: () => h(RouterView) }).use(router)
  await router.push('/')
  app.mount(root)
  const area = () => vi.waitFor(() => root.querySelector('textarea') ?? Promise.reject(new Error('no text')))

  const text = await area()
  const mine = text.value.replace('spec: {}', 'spec: {provider: {type: local}}')
  text.value = mine
  text.dispatchEvent(new Event('input'))
  await nextTick()
  await signOut()
  expect(session.value).toBeUndefined()
  await router.push('/sign-in')
  user = next
  await signIn({ token: 't' })
  await router.push('/')

  expect((await area()).value === mine).toBe(back)
  app.unmount()
})

// SPDX-License-Identifier: Apache-2.0

import { afterEach, expect, it } from 'vitest'
import { createApp, h, nextTick, ref } from 'vue'

import Dialog from './Dialog.vue'

const unmounts: (() => void)[] = []
afterEach(() => unmounts.splice(0).forEach((unmount) => unmount()))

it('says the same while it closes', async () => {
  const name = ref<string>()
  const titles = new Set<string>()
  const app = createApp(() =>
    h(Dialog, {
      open: name.value !== undefined,
      title: `Remove ${name.value ?? ''}`,
      lead: `${name.value} is a member.`,
    }),
  )
  app.mount(document.createElement('div'))
  unmounts.push(() => app.unmount())
  const look = () => titles.add([...document.querySelectorAll('h2, p')].map((e) => e.textContent?.trim()).join(': '))
  new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true })

  for (const who of ['alice', 'bob']) {
    name.value = who
    await nextTick()
    look()
    name.value = undefined
    for (let i = 0; i < 5; i++) {
      await nextTick()
      look()
    }
  }
  expect([...titles].filter((title) => title !== '')).toEqual([
    'Remove alice: alice is a member.',
    'Remove bob: bob is a member.',
  ])
})

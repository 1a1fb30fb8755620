// SPDX-License-Identifier: Apache-2.0

import { onBeforeUnmount, onMounted } from 'vue'
import { useRoute, useRouter } from 'vue-router'

import { sections } from './sections'

/** What the shell does on a key. */
export interface ShellActions {
  palette(): void
  help(): void
}

const patience = 1_000

function isWriting(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null
  return Boolean(
    element?.closest(
      'input:not([type=checkbox]), textarea, select, [contenteditable=true], [role=dialog], [role=menu]',
    ),
  )
}

/** Listens for the keys of the shell: Ctrl-K, /, ?, and g followed by the letter of a section. */
export function useShortcuts(actions: ShellActions): void {
  const router = useRouter()
  const route = useRoute()
  let went = 0

  function onKey(event: KeyboardEvent): void {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      actions.palette()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
    if (event.key === '/') {
      const field = document.querySelector<HTMLInputElement>('[data-search]')
      if (!field) return
      event.preventDefault()
      field.focus()
      field.select()
    } else if (event.key === '?') {
      actions.help()
    } else if (event.key === 'g') {
      went = event.timeStamp
    } else if (event.timeStamp - went < patience) {
      went = 0
      const section = sections.find((s) => s.key === event.key && router.hasRoute(s.id))
      const namespace = route.params.namespace
      if (section) void router.push(section.to(typeof namespace === 'string' ? namespace : undefined))
    }
  }

  onMounted(() => window.addEventListener('keydown', onKey))
  onBeforeUnmount(() => window.removeEventListener('keydown', onKey))
}

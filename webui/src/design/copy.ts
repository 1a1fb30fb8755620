// SPDX-License-Identifier: Apache-2.0

import { ref, type Ref } from 'vue'

/** Copies texts and says for two seconds that it has done so. */
export function useCopy(): { copied: Ref<boolean>; copy: (text: string) => Promise<void> } {
  const copied = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  async function copy(text: string): Promise<void> {
    await navigator.clipboard.writeText(text)
    copied.value = true
    clearTimeout(timer)
    timer = setTimeout(() => (copied.value = false), 2000)
  }
  return { copied, copy }
}

/** Saves a text as a file. */
export function download(name: string, text: string, type = 'application/yaml'): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

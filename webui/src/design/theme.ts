// SPDX-License-Identifier: Apache-2.0

import { ref } from 'vue'

export type Theme = 'system' | 'light' | 'dark'

/** The chosen theme. public/theme.js applies it before the first paint. */
export const theme = ref<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? 'system')

export function setTheme(choice: Theme): void {
  theme.value = choice
  if (choice === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = choice
  try {
    if (choice === 'system') localStorage.removeItem('terrarium.theme')
    else localStorage.setItem('terrarium.theme', choice)
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

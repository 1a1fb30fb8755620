// SPDX-License-Identifier: Apache-2.0

import { t } from '@/text/en'

/** What an error code means, who can mend it and how. */
export interface CodeText {
  title: string
  meaning: string
  /** Whether the garden goes on trying; otherwise somebody has to change something. */
  retries: boolean
}

/** Explains an error code. An unknown one is shown as it is. */
export function explainCode(code: string): CodeText {
  const known = (t.codes as Record<string, CodeText | undefined>)[code]
  return known ?? { title: code, meaning: t.codeUnknown, retries: true }
}

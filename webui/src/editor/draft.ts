// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '@/kube/types'

/** A changed text, and the object that it was made from. */
export interface Draft {
  base: KubeObject
  text: string
}

let kept: { author: string; of: string; draft: Draft } | undefined

/** Keeps the text of somebody whose session has ended, until the page is loaded anew. There is no more than one. */
export function keepDraft(author: string, of: string, draft: Draft): void {
  kept = { author, of, draft }
}

/** Takes the text of an object back. Nobody gets that of somebody else. */
export function takeDraft(author: string, of: string): Draft | undefined {
  const found = kept
  if (!found || (found.author === author && found.of !== of)) return undefined
  kept = undefined
  return found.author === author ? found.draft : undefined
}

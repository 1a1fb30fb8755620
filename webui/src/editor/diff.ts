// SPDX-License-Identifier: Apache-2.0

import { diffLines } from 'diff'

/** A line of a comparison; a gap stands for equal lines that are left out. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'gap'
  text: string
  old?: number
  new?: number
}

/** Compares two texts line by line and keeps a few equal lines around each change. */
export function compareTexts(before: string, after: string, context = 3): DiffLine[] {
  const lines: DiffLine[] = []
  let oldNumber = 1
  let newNumber = 1
  for (const part of diffLines(before, after)) {
    const texts = part.value.replace(/\n$/, '').split('\n')
    for (const text of texts) {
      if (part.added) lines.push({ kind: 'added', text, new: newNumber++ })
      else if (part.removed) lines.push({ kind: 'removed', text, old: oldNumber++ })
      else lines.push({ kind: 'same', text, old: oldNumber++, new: newNumber++ })
    }
  }
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - context), i + context + 1).some((l) => l.kind !== 'same'),
  )
  const kept: DiffLine[] = []
  let hidden = 0
  lines.forEach((line, i) => {
    if (near[i]) {
      if (hidden > 0) kept.push({ kind: 'gap', text: String(hidden) })
      hidden = 0
      kept.push(line)
    } else hidden++
  })
  if (hidden > 0 && kept.length > 0) kept.push({ kind: 'gap', text: String(hidden) })
  return kept
}

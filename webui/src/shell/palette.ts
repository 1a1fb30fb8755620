// SPDX-License-Identifier: Apache-2.0

import { t } from '@/text/en'

/** Something that the palette offers. */
export interface Offer {
  id: string
  group: keyof typeof t.palette.groups
  label: string
  hint?: string | undefined
  run: () => void
}

/** How well a text meets what was typed: the higher the better, 0 not at all. */
export function score(text: string, typed: string): number {
  const hay = text.toLowerCase()
  const word = typed.trim().toLowerCase()
  if (!word) return 1
  if (hay === word) return 100
  if (hay.startsWith(word)) return 80
  if (hay.split(/[\s./-]+/).some((part) => part.startsWith(word))) return 60
  if (hay.includes(word)) return 40
  // All letters in their order, such as gms for garden-meadow-sprout.
  let at = -1
  for (const letter of word) {
    at = hay.indexOf(letter, at + 1)
    if (at < 0) return 0
  }
  return 10
}

/** The best offers, those of a group together, the group with the best one first. */
export function rank(offers: Offer[], typed: string, most = 40): Offer[] {
  const scored = offers
    .map((offer) => ({ offer, points: Math.max(score(offer.label, typed), score(offer.hint ?? '', typed) / 2) }))
    .filter((x) => x.points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, most)
  const groups = new Map<string, Offer[]>()
  for (const { offer } of scored) {
    const group = groups.get(offer.group)
    if (group) group.push(offer)
    else groups.set(offer.group, [offer])
  }
  return [...groups.values()].flat()
}

// SPDX-License-Identifier: Apache-2.0

/** A column of a table. */
export interface Column {
  id: string
  label: string
  /** The smallest width in pixels. */
  min: number
  /** The share of the width that is left. */
  grow?: number
  /** Columns with higher numbers go first when there is no room; 0 never goes. */
  priority: number
  sortable?: boolean
  /** The cell holds the link of the row. */
  link?: boolean
}

/** By which column a table is sorted. */
export interface Sort {
  by: string
  desc: boolean
}

/** The columns for which there is room, in their own order. */
export function fitting(columns: Column[], width: number, gap: number): Column[] {
  const kept = new Set(columns)
  const need = () => [...kept].reduce((sum, c) => sum + c.min + gap, gap)
  const droppable = columns.filter((c) => c.priority > 0).sort((a, b) => b.priority - a.priority)
  while (need() > width && droppable.length > 0) kept.delete(droppable.shift()!)
  return columns.filter((c) => kept.has(c))
}

/** The value of grid-template-columns. */
export function template(columns: Column[]): string {
  return columns.map((c) => (c.grow ? `minmax(${c.min}px, ${c.grow}fr)` : `${c.min}px`)).join(' ')
}

/** Compares values as people expect: numbers in texts count as numbers, and what is missing comes last. */
export function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (a === b) return 0
  if (a === undefined || a === '') return 1
  if (b === undefined || b === '') return -1
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return collator.compare(String(a), String(b))
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

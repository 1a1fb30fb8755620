// SPDX-License-Identifier: Apache-2.0

import type { Run, RunTask } from './runs'

/** An edge from a task to one that waits for it. */
export interface Edge {
  from: string
  to: string
}

/** A task with its place in the picture. */
export interface Node {
  task: RunTask
  x: number
  y: number
}

/** The picture of a run. */
export interface Picture {
  width: number
  height: number
  nodes: Node[]
  edges: (Edge & { points: { x: number; y: number }[] })[]
}

export const nodeWidth = 190
export const nodeHeight = 44

/** The edges of a run without those that others already imply. */
export function edgesOf(run: Run): Edge[] {
  const after = new Map(run.tasks.map((x) => [x.id, x.after]))
  const reach = new Map<string, Set<string>>()
  const before = (id: string, path: Set<string> = new Set()): Set<string> => {
    const known = reach.get(id)
    if (known) return known
    const all = new Set<string>()
    if (path.has(id)) return all
    path.add(id)
    for (const direct of after.get(id) ?? []) {
      all.add(direct)
      for (const further of before(direct, path)) all.add(further)
    }
    path.delete(id)
    reach.set(id, all)
    return all
  }
  return run.tasks.flatMap((task) => {
    const direct = task.after.filter((id) => after.has(id))
    return direct
      .filter((id) => !direct.some((other) => other !== id && before(other).has(id)))
      .map((from) => ({ from, to: task.id }))
  })
}

/** Everything before and after a task, and the task itself. */
export function relatives(edges: Edge[], id: string): Set<string> {
  const found = new Set([id])
  const walk = (at: string, next: (at: string) => string[]): void => {
    for (const x of next(at)) {
      if (found.has(x)) continue
      found.add(x)
      walk(x, next)
    }
  }
  walk(id, (at) => edges.filter((e) => e.to === at).map((e) => e.from))
  const before = new Set(found)
  const walkDown = (at: string): void => {
    for (const e of edges) {
      if (e.from !== at || before.has(e.to)) continue
      before.add(e.to)
      walkDown(e.to)
    }
  }
  walkDown(id)
  return before
}

/** Lays the tasks out from left to right. The layout library is loaded only here. */
export async function draw(run: Run): Promise<Picture> {
  const { default: dagre } = await import('@dagrejs/dagre')
  const graph = new dagre.graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 44, marginx: 12, marginy: 12 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const task of run.tasks) graph.setNode(task.id, { width: nodeWidth, height: nodeHeight })
  for (const e of edgesOf(run)) graph.setEdge(e.from, e.to)
  dagre.layout(graph)
  const size = graph.graph()
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: run.tasks.map((task) => {
      const { x = 0, y = 0 } = graph.node(task.id) as { x?: number; y?: number }
      return { task, x: x - nodeWidth / 2, y: y - nodeHeight / 2 }
    }),
    edges: graph
      .edges()
      .map((e) => ({ from: e.v, to: e.w, points: (graph.edge(e) as { points: { x: number; y: number }[] }).points })),
  }
}

/** An SVG path through points, with round corners. */
export function curve(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points
  if (!first) return ''
  let path = `M${first.x},${first.y}`
  for (let i = 0; i < rest.length - 1; i++) {
    const a = rest[i]!
    const b = rest[i + 1]!
    path += ` Q${a.x},${a.y} ${(a.x + b.x) / 2},${(a.y + b.y) / 2}`
  }
  const end = rest.at(-1)
  return end ? `${path} L${end.x},${end.y}` : path
}

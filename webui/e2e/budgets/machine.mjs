// SPDX-License-Identifier: Apache-2.0
//
// What other programs do with the machine while something is measured.
import { readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

// The unit of processor times in /proc, which is the same on all architectures of Linux.
const tick = 10
// If other programs use less of the processors than this share, they are no excuse.
const little = 0.15
const look = 300

/** All processes, with their parents and the milliseconds of processor time that they and the ended ones of their children have used. */
function processes() {
  const all = new Map()
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      // The name of the program is in parentheses, and may contain anything.
      const [, name, rest] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${id}/stat`, 'utf8'))
      const field = rest.split(' ')
      const used = field.slice(11, 15).reduce((sum, x) => sum + Number(x), 0) * tick
      all.set(Number(id), { name, parent: Number(field[1]), used })
    } catch {
      // It has ended meanwhile.
    }
  }
  return all
}

/** What the test has used so far: the program that has started Node, with the garden in it, and all below it. */
function own() {
  const all = processes()
  let root = process.pid
  while (all.get(root)?.name.startsWith('node') && all.has(all.get(root).parent)) root = all.get(root).parent
  const below = (id) => id === root || (all.has(id) && below(all.get(id).parent))
  return [...all].reduce((sum, [id, { used }]) => sum + (below(id) ? used : 0), 0)
}

function now() {
  const times = os.cpus().map((c) => c.times)
  const idle = times.reduce((sum, t) => sum + t.idle, 0)
  const all = times.reduce((sum, t) => sum + t.idle + t.user + t.nice + t.sys + t.irq, 0)
  return { all, others: all - idle - own() }
}

/** Begins to look. The result says whether other programs have used so much since then that times say little. Elsewhere than on Linux they never have. */
export function disturbance() {
  if (os.platform() !== 'linux') return () => false
  const before = now()
  return () => {
    const after = now()
    return (after.others - before.others) / (after.all - before.all) > little
  }
}

/** Waits until other programs leave the processors to this test, at most for some milliseconds. */
export async function calm(patience) {
  for (const end = Date.now() + patience; Date.now() < end;) {
    const disturbed = disturbance()
    await sleep(look)
    if (!disturbed()) return
  }
}

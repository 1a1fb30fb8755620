// SPDX-License-Identifier: Apache-2.0
//
// What many changes may cost: 1,000 events a second for half a minute, sent by the front of the garden in tests/ui.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { asAdmin, garden, launch, open } from '../world.mjs'

const rate = 1000
const seconds = 30
// Of a heap of some 20 MB. Each event is 10 kB: if one in a hundred were kept, it would grow by 3 MB.
const mayGrow = 2_000_000

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

test('memory stays flat while 1,000 clusters a second change, and the page stays usable', async (t) => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/shoots`)
  await page.waitForFunction(() => document.querySelector('[role=table]')?.ariaRowCount > 2000)
  const debug = await context.newCDPSession(page)
  await debug.send('HeapProfiler.enable')
  const heap = async () => {
    // Once is not enough for what waits for a finalizer.
    for (let i = 0; i < 3; i++) await debug.send('HeapProfiler.collectGarbage')
    return (await debug.send('Runtime.getHeapUsage')).usedSize
  }
  const flood = async (time) => {
    const answer = await context.request.post(`${garden}/flood?rate=${rate}&seconds=${time}`, { timeout: 120_000 })
    return answer.text()
  }
  // The first events compile what they run through.
  await flood(2)
  const before = await heap()
  await page.evaluate(() => {
    globalThis.longest = 0
    let last = performance.now()
    const frame = (now) => {
      globalThis.longest = Math.max(globalThis.longest, now - last)
      last = now
      globalThis.painted = (globalThis.painted ?? 0) + 1
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })
  const sent = await flood(seconds)
  const [longest, frames] = await page.evaluate(() => [globalThis.longest, globalThis.painted])
  // The last change is shown: nothing is left in a queue. Each cluster has changed as often as all others, or once more.
  const last = Math.ceil((rate * seconds) / 2004) - 1
  await page.waitForFunction(
    (n) => document.querySelector('[role=row][data-index="0"]')?.innerText.includes(`${n}%`),
    last,
  )
  const after = await heap()
  t.diagnostic(
    `${sent}; heap ${before} bytes before, ${after} after; ${frames} frames, the longest took ${longest.toFixed()} ms`,
  )
  assert.ok(after - before < mayGrow, `the heap has grown from ${before} to ${after} bytes`)
  assert.deepEqual(problems, [], 'the console is empty')
  await context.close()
})

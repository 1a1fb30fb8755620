// SPDX-License-Identifier: Apache-2.0
//
// What the list of many clusters may cost. The garden has more than 2,000.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { asAdmin, garden, launch, open } from '../world.mjs'

const second = 1000
const megabyte = 1_000_000
// How often the table is opened at most.
const attempts = 6
// How many times as long as a table of one row it may take on a machine that needs more than the second.
const ratio = 2.5

let browser, state
before(async () => {
  browser = await launch()
  const { context, page } = await open(browser)
  await asAdmin(page)
  state = await context.storageState()
  await context.close()
})
after(() => browser.close())

/** Opens a page with nothing in the cache. It returns when its table was painted, and what it has received. */
async function opened(path) {
  const { context, page, problems } = await open(browser, { storageState: state })
  await page.addInitScript(() => {
    const look = new MutationObserver(() => {
      if (!document.querySelector('[role=row][data-index]')) return
      look.disconnect()
      requestAnimationFrame(() => setTimeout(() => (globalThis.paintedAt = performance.now())))
    })
    look.observe(document, { childList: true, subtree: true })
  })
  const network = await context.newCDPSession(page)
  await network.send('Network.enable')
  const received = {}
  const urls = {}
  network.on('Network.requestWillBeSent', (e) => (urls[e.requestId] = e.request.url))
  network.on('Network.responseReceived', (e) => (received[e.requestId] = e.response.encodedDataLength))
  network.on(
    'Network.dataReceived',
    (e) => (received[e.requestId] = (received[e.requestId] ?? 0) + e.encodedDataLength),
  )
  network.on('Network.loadingFinished', (e) => (received[e.requestId] = e.encodedDataLength))
  await page.goto(garden + path, { waitUntil: 'commit' })
  await page.waitForFunction(() => globalThis.paintedAt)
  const painted = await page.evaluate(() => globalThis.paintedAt)
  const timing = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(
        (e) =>
          `${e.startTime.toFixed()}-${e.responseStart.toFixed()}-${e.responseEnd.toFixed()} ${e.name.replace(/.*\/ui\//, '').slice(0, 90)}`,
      )
      .join('\n'),
  )
  if (process.env.TIMING) console.log(timing)
  const bytes = (part) =>
    Object.entries(received).reduce((n, [id, size]) => n + (urls[id]?.includes(part) ? size : 0), 0)
  return { context, page, problems, painted, bytes }
}

test('the table of 2,000 clusters is painted within a second, or a few times that of one row, and costs less than a megabyte', async (t) => {
  const tables = []
  const rows = []
  const proven = () => Math.min(...tables) < Math.max(second, ratio * Math.min(...rows))
  // What else the machine does only makes both slower, so the best of each is compared.
  for (let i = 0; i < attempts && (i === 0 || !proven()); i++) {
    const small = await opened('/ui/cloudprofiles')
    await small.context.close()
    const { context, page, problems, painted, bytes } = await opened('/ui/shoots')
    await page.waitForFunction(() => document.querySelector('[role=table]')?.ariaRowCount > 2000)
    const complete = await page.evaluate(() => performance.now())
    t.diagnostic(
      `painted after ${painted.toFixed()} ms, complete after ${complete.toFixed()} ms; a table of one row after ${small.painted.toFixed()} ms`,
    )
    t.diagnostic(
      `transferred: ${bytes('')} bytes, ${bytes('/kube/')} of them objects, ${bytes('/shoots')} of them clusters`,
    )
    tables.push(painted)
    rows.push(small.painted)
    assert.ok(bytes('') < megabyte, `${bytes('')} bytes were transferred`)
    assert.deepEqual(problems, [], 'the console is empty')
    await context.close()
  }
  const all = (times) => times.map((x) => x.toFixed()).join(', ')
  assert.ok(proven(), `painted after ${all(tables)} ms, and a table of one row after ${all(rows)} ms`)
})

// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, garden, launch, open, patch, phone, picture, tokenOf } from './world.mjs'

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

const rows = (page) => page.getByRole('table').locator('[data-index]')
const robot = 'system:serviceaccount:garden-meadow:stranger'

/** Somebody without permissions tries to read a Secret, which is refused and recorded. */
async function tryToRead(page, times = 1) {
  const headers = { Authorization: `Bearer ${await tokenOf('stranger')}` }
  for (let i = 0; i < times; i++) {
    const answer = await page.request.get(`${garden}/api/v1/namespaces/garden/secrets/crown-jewels`, {
      headers,
      ignoreHTTPSErrors: true,
    })
    assert.equal(answer.status(), 403)
  }
}

test('a refused request is found by its user and outcome, and a link leads to it', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await tryToRead(page)
  await page.goto(`${garden}/ui/operations/audit`)
  await page.getByLabel('User', { exact: true }).fill(robot)
  await page.getByLabel('Outcome').selectOption('Denied')
  await page.waitForURL(/outcome=denied/)
  const row = rows(page).filter({ hasText: 'garden/crown-jewels' }).first()
  await row.waitFor()
  assert.ok((await rows(page).allTextContents()).every((text) => text.includes('Denied')))
  await picture(page, 'audit-found')
  await row.getByRole('link').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('/api/v1/namespaces/garden/secrets/crown-jewels').waitFor()
  await accessible(page, 'an event')
  await picture(page, 'audit-event')
  await page.reload()
  await page.getByRole('dialog').getByText('garden/crown-jewels').first().waitFor()
  await page.getByRole('button', { name: 'Only this object: crown-jewels' }).click()
  await page.waitForURL(/name=crown-jewels/)
  assert.ok(!page.url().includes('event='), 'the details are closed')
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await page.waitForURL(`${garden}/ui/operations/audit`)
  assert.deepEqual(problems, [])
  await context.close()
})

test('what happens is shown while the log is followed', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/operations/audit?resource=shoots&name=fern`)
  await page
    .getByText(/\d+ events?/)
    .first()
    .waitFor()
  const before = await rows(page).count()
  await page.getByRole('button', { name: 'Follow' }).click()
  await patch('/apis/core.gardener.cloud/v1beta1/namespaces/garden-meadow/shoots/fern', {
    metadata: { annotations: { 'example.org/seen': String(Date.now()) } },
  })
  await rows(page).nth(before).waitFor()
  assert.match(await rows(page).first().textContent(), /admin.*patch.*shoots.*garden-meadow\/fern.*OK 200/)
  await accessible(page, 'the log that is followed')
  assert.deepEqual(problems, [])
  await context.close()
})

test('older events are shown when asked for', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await tryToRead(page, 200)
  await page.goto(`${garden}/ui/operations/audit`)
  const count = page.getByText(/^The newest \d+ events/)
  await count.waitFor()
  const before = Number((await count.textContent()).match(/\d+/)[0])
  await page.getByRole('button', { name: 'Show older ones' }).click()
  await page.waitForFunction((n) => !document.body.textContent.includes(`The newest ${n} events`), before)
  assert.deepEqual(problems, [])
  await context.close()
})

for (const [what, answer, text] of [
  ['no permission', { status: 403, json: { kind: 'Status', code: 403, message: 'not you' } }, 'No permission'],
  ['turned off', { json: { items: [], disabled: true } }, 'The audit log is turned off'],
  ['none', { json: { items: [] } }, 'No event matches'],
]) {
  test(`audit log: ${what} is said`, async () => {
    const { context, page } = await open(browser)
    await asAdmin(page)
    await page.route('**/appliance/audit?*', (r) => r.fulfill(answer))
    await page.goto(`${garden}/ui/operations/audit?user=nobody`)
    await page.getByText(text).first().waitFor()
    await accessible(page, `audit log: ${what}`)
    await phone(page)
    await picture(page, `audit-${what.replaceAll(' ', '-')}-phone`)
    await context.close()
  })
}

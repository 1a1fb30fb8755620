// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, garden, launch, open, phone, picture } from './world.mjs'

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

const rows = (page) => page.getByRole('table').locator('[data-index]')

/** Takes a snapshot and waits until it is told that it is complete. */
async function take(page) {
  await page.getByRole('button', { name: 'Take a snapshot' }).click()
  await page.getByText(/^Saved [\d,]+ objects in /).waitFor()
  await page.getByText(/^Saved [\d,]+ objects in /).waitFor({ state: 'detached' })
}

test('a snapshot is taken, shown, and explained how to restore', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/operations/snapshots`)
  await take(page)
  await page.getByText('any moment since').waitFor()
  await rows(page).first().getByRole('link').click()
  const dialog = page.getByRole('dialog')
  const name = await dialog
    .getByText(/^snapshot-\d{8}-/)
    .first()
    .textContent()
  await dialog.getByText('Objects').waitFor()
  await dialog.getByText('The newest snapshot cannot be deleted').waitFor()
  await dialog.getByRole('button', { name: 'How to restore it' }).click()
  await dialog.getByText(`terrarium snapshot restore \\\n  ${name.trim()} \\\n  --from /`).waitFor()
  await accessible(page, 'a snapshot')
  await picture(page, 'snapshot')
  assert.match(page.url(), new RegExp(`snapshot=${name.trim()}`), 'a link leads to it')
  await page.reload()
  await page.getByRole('dialog').getByText(name.trim()).first().waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL(`${garden}/ui/operations/snapshots`)
  assert.deepEqual(problems, [])
  await context.close()
})

test('how to restore a moment is told, with the command', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/operations/snapshots`)
  await page.getByRole('button', { name: 'Restore…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/terrarium snapshot restore \\\n {2}--from \//).waitFor()
  await dialog.getByRole('radio', { name: 'The state at a time' }).check()
  await dialog.getByText(/--to-time \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/).waitFor()
  await accessible(page, 'how to restore')
  await picture(page, 'restore')
  await dialog.getByLabel('The state at a time').last().fill('2001-01-01T00:00')
  await dialog.getByRole('alert').getByText('The oldest snapshot is of').waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('a snapshot is verified by the server, and downloaded', async () => {
  const { context, page, problems } = await open(browser, { acceptDownloads: true })
  await asAdmin(page)
  await page.goto(`${garden}/ui/operations/snapshots`)
  await take(page)
  await rows(page).first().getByRole('link').click()
  const dialog = page.getByRole('dialog')
  const name = (
    await dialog
      .getByText(/^snapshot-\d{8}-/)
      .first()
      .textContent()
  ).trim()
  await dialog.getByRole('button', { name: 'Verify now' }).click()
  await dialog.getByText(/(is|are) well, and can be restored\./).waitFor()
  await accessible(page, 'a verified snapshot')
  await picture(page, 'snapshot-verified')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('link', { name: 'Download' }).click(),
  ])
  assert.equal(download.suggestedFilename(), `${name}.tsnap`)
  const file = readFileSync(await download.path())
  assert.equal(file.subarray(0, 21).toString(), 'age-encryption.org/v1', 'the file is encrypted')
  assert.equal(file.subarray(-8).toString(), 'TERRSNP1', 'the file is complete')
  await phone(page)
  await picture(page, 'snapshot-phone')
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 1280, height: 800 })
  await rows(page).first().getByText('Well', { exact: true }).waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('increments, a gap in them, and a snapshot that is not well are shown', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.route('**/v1alpha1/snapshots', async (route) => {
    const answer = await route.fetch()
    const list = await answer.json()
    const [first] = list.items
    const until = new Date().toISOString()
    first.status.increments = { count: 1234, bytes: 5 << 20, until, gap: true }
    first.status.verification = {
      state: 'Failed',
      startTime: until,
      completionTime: until,
      message: 'increment-1: it is damaged',
    }
    await route.fulfill({ response: answer, json: list })
  })
  await page.goto(`${garden}/ui/operations/snapshots`)
  const first = rows(page).first()
  await first.getByText('1,234 · 5.0 MiB').waitFor()
  await first.getByText('Gap').waitFor()
  await first.getByText('Not well').waitFor()
  await first.getByRole('link').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Increments are missing').waitFor()
  await dialog.getByText('increment-1: it is damaged').waitFor()
  await accessible(page, 'a snapshot that is not well')
  await picture(page, 'snapshot-not-well')
  assert.deepEqual(problems, [])
  await context.close()
})

test('an old snapshot is deleted only when its name is typed', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/operations/snapshots`)
  await take(page)
  const before = await rows(page).count()
  assert.ok(before > 1, 'there are several snapshots')
  await rows(page)
    .nth(before - 1)
    .getByRole('link')
    .click()
  const name = (
    await page
      .getByRole('dialog')
      .getByText(/^snapshot-\d{8}-/)
      .first()
      .textContent()
  ).trim()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  const sure = page.getByRole('dialog', { name: 'Delete this snapshot?' })
  const go = sure.getByRole('button', { name: 'Delete' })
  assert.ok(await go.isDisabled())
  await sure.getByRole('textbox').fill(name.slice(0, -1))
  assert.ok(await go.isDisabled(), 'a part of the name is not enough')
  await accessible(page, 'the deletion of a snapshot')
  await picture(page, 'snapshot-delete')
  await sure.getByRole('textbox').fill(name)
  await go.click()
  await page.getByText('Snapshot deleted').waitFor()
  await rows(page)
    .nth(before - 1)
    .waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
  await context.close()
})

for (const [what, answer, text] of [
  [
    'no permission',
    { status: 403, json: { kind: 'Status', code: 403, reason: 'Forbidden', message: 'not you' } },
    'No permission',
  ],
  ['an error', { status: 500, json: { kind: 'Status', code: 500, message: 'the disk is gone' } }, 'the disk is gone'],
  ['none', { json: { metadata: { resourceVersion: '1' }, items: [] } }, 'No snapshot yet'],
]) {
  test(`snapshots: ${what} is said`, async () => {
    const { context, page } = await open(browser)
    await asAdmin(page)
    await page.route('**/v1alpha1/snapshots', (r) => r.fulfill(answer))
    await page.goto(`${garden}/ui/operations/snapshots`)
    await page.locator('#main').getByText(text).first().waitFor()
    await accessible(page, `snapshots: ${what}`)
    await phone(page)
    await picture(page, `snapshots-${what.replaceAll(' ', '-')}-phone`)
    await context.close()
  })
}

// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, dark, garden, launch, open, phone, picture } from './world.mjs'

const url = `${garden}/ui/operations/certificates`

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

const key = (page, name) =>
  page
    .getByRole('region', { name: 'Keys' })
    .getByRole('row')
    .filter({ has: page.getByText(name, { exact: true }) })

test('the certificates of the server are renewed', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(url)
  await page.getByRole('button', { name: 'Renew now' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('no connection is closed').waitFor()
  await accessible(page, 'renew certificates')
  await dialog.getByRole('button', { name: 'Renew now' }).click()
  await page.getByText('Renewed: serving, admin, front-proxy-client').waitFor()
  // The page goes on over its connection, and a new one has the new certificate.
  await page.reload()
  await page.getByRole('heading', { name: 'Certificates of the server' }).waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('the key of service account tokens is rotated in two phases, and the second is not too early', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(url)
  const before = await key(page, 'service-account').locator('[title]').first().getAttribute('title')
  await key(page, 'service-account').getByRole('button', { name: 'Rotate' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Start the rotation' }).click()
  await page.getByText('The new key signs all tokens').waitFor()
  await key(page, 'service-account-former').getByText('Rotating').waitFor()
  const now = await key(page, 'service-account').locator('[title]').first().getAttribute('title')
  assert.notEqual(now, before, 'another key signs')
  await picture(page, 'certificates-rotating')

  await key(page, 'service-account').getByRole('button', { name: 'Complete' }).click()
  await dialog.getByRole('button', { name: 'Complete the rotation' }).click()
  // The seeds of this garden have no gardenlets that renew their tokens.
  await dialog.getByRole('alert').getByText('have not been seen to renew the tokens of the former key').waitFor()
  const force = dialog.getByRole('button', { name: 'Refuse them now' })
  assert.ok(await force.isDisabled(), 'to force it has to be typed')
  await accessible(page, 'complete a rotation too early')
  await picture(page, 'certificates-too-early')
  await dialog.getByRole('textbox').fill('service-account')
  await force.click()
  await page.getByText('Tokens of the former key are refused').waitFor()
  await key(page, 'service-account-former').waitFor({ state: 'detached' })
  assert.deepEqual(
    problems.filter((x) => !x.includes('409')),
    [],
  )
  await context.close()
})

test('the key of workload identity tokens is rotated in two phases', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(url)
  const dialog = page.getByRole('dialog')
  await key(page, 'workload-identity').getByRole('button', { name: 'Rotate' }).click()
  await accessible(page, 'rotate the key of workload identities')
  await dialog.getByRole('button', { name: 'Start the rotation' }).click()
  await key(page, 'workload-identity-former').getByText('Rotating').waitFor()
  await key(page, 'service-account').getByRole('button', { name: 'Rotate' }).waitFor()

  await key(page, 'workload-identity').getByRole('button', { name: 'Complete' }).click()
  await dialog.getByRole('button', { name: 'Complete the rotation' }).click()
  await dialog.getByRole('alert').getByText('have not been seen to renew the tokens of the former key').waitFor()
  await dialog.getByText('it can leave the key set at once').waitFor()
  await dialog.getByRole('textbox').fill('workload-identity')
  await dialog.getByRole('button', { name: 'Remove it now' }).click()
  await page.getByText('The former key is not published any more').waitFor()
  await key(page, 'workload-identity-former').waitFor({ state: 'detached' })
  assert.deepEqual(
    problems.filter((x) => !x.includes('409')),
    [],
  )
  await context.close()
})

test('the rotation of the encryption key is shown while it goes on', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  const started = new Date().toISOString()
  let rotation
  await page.route('**/appliance/certificates', async (route) => {
    if (route.request().method() === 'POST') {
      assert.deepEqual(route.request().postDataJSON(), { rotate: 'encryptionKey' })
      rotation = { key: 'key2', started, next: 'rewrite', done: 120, total: 400 }
    }
    const answer = await route.fetch({ method: 'GET', postData: undefined })
    await route.fulfill({ response: answer, json: { ...(await answer.json()), encryption: rotation } })
  })
  await page.goto(url)
  await key(page, 'encryption').getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start the rotation' }).click()
  await page.getByText('Written with the new key: 120 of 400 objects').first().waitFor()
  await accessible(page, 'the rotation of the encryption key')
  await picture(page, 'certificates-encryption')
  rotation = { ...rotation, done: 400, rewritten: started, removedAfter: started }
  await page.getByText('All objects are stored with the new key').waitFor()
  await dark(page)
  await phone(page)
  await picture(page, 'certificates-encryption-phone')
  assert.deepEqual(problems, [])
  await context.close()
})

test('the encryption key is rotated', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(url)
  const before = await key(page, 'encryption').first().locator('[title]').first().getAttribute('title')
  await key(page, 'encryption').getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start the rotation' }).click()
  await page.getByText('All objects are stored with the new key').waitFor({ timeout: 60_000 })
  assert.notEqual(await key(page, 'encryption').first().locator('[title]').first().getAttribute('title'), before)
  assert.deepEqual(problems, [])
  await context.close()
})

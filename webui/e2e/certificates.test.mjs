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

test('the servers that share the keys are shown, with their generations', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  const seen = new Date(Date.now() - 3_600_000).toISOString()
  const server = (address, is) => ({ address, generation: 7, leads: false, runs: true, current: true, seen, ...is })
  await page.route('**/appliance/certificates', async (route) => {
    const answer = await route.fetch()
    const servers = [
      server('192.0.2.3:6443', { runs: false, current: false, generation: 5 }),
      server('192.0.2.2:6443', {
        current: false,
        generation: 6,
        failure: 'run "terrarium bundle import --force" here',
      }),
      server('192.0.2.1:6443', { leads: true }),
    ]
    await route.fulfill({ response: answer, json: { ...(await answer.json()), generation: 7, servers } })
  })
  await page.goto(url)
  const table = page.getByRole('region', { name: 'Servers', exact: true })
  await table.getByText('which have generation 7').waitFor()
  const rows = await table.getByRole('row').allInnerTexts()
  assert.match(rows[1], /192\.0\.2\.1:6443\s+Leads\s+Newest\s+7/)
  assert.match(rows[2], /192\.0\.2\.2:6443\s+Stands by\s+Old\s*run "terrarium bundle import --force" here\s+6/)
  assert.match(rows[3], /192\.0\.2\.3:6443\s+Off since .+\s+Old\s+5/)
  await accessible(page, 'the servers that share the keys')
  await picture(page, 'certificates-servers')
  await dark(page)
  await phone(page)
  await accessible(page, 'the servers that share the keys, on a phone')
  assert.deepEqual(problems, [])
  await context.close()
})

test('a garden with one server shows no servers', async () => {
  const { context, page } = await open(browser)
  await asAdmin(page)
  await page.goto(url)
  await page.getByRole('heading', { name: 'All credentials' }).waitFor()
  assert.equal(await page.getByRole('heading', { name: 'Servers', exact: true }).count(), 0)
  await context.close()
})

test('all credentials are rotated at once, and the password of monitoring alone', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  const asked = []
  let rotates = false
  await page.route('**/appliance/certificates', async (route) => {
    if (route.request().method() === 'POST') {
      const body = route.request().postDataJSON()
      asked.push(body)
      if (body.phase === 'complete')
        return route.fulfill({ status: 409, body: 'tokens of the former key may be valid' })
      rotates ||= body.rotate === 'credentials'
    }
    const answer = await route.fetch({ method: 'GET', postData: undefined })
    const authorities = rotates ? { phase: 'prepared', started: new Date().toISOString() } : undefined
    await route.fulfill({ response: answer, json: { ...(await answer.json()), authorities } })
  })
  await page.goto(url)
  const section = page.getByRole('region', { name: 'All credentials' })
  const dialog = page.getByRole('dialog')
  await section.getByRole('button', { name: 'Password of monitoring' }).click()
  await accessible(page, 'change the password of monitoring')
  await dialog.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('The password of monitoring is being changed').waitFor()
  await section.getByRole('button', { name: 'All authorities and keys' }).click()
  await accessible(page, 'rotate all credentials')
  await dialog.getByRole('button', { name: 'Start all rotations' }).click()
  await page.getByText('All rotations are started').waitFor()
  await section.getByRole('button', { name: 'Complete… All authorities and keys' }).click()
  await dialog.getByRole('button', { name: 'Complete all rotations' }).click()
  // It says why it cannot be, and cannot be forced.
  await dialog.getByRole('alert').getByText('tokens of the former key may be valid').waitFor()
  assert.equal(await dialog.getByRole('textbox').count(), 0)
  assert.deepEqual(asked, [
    { rotate: 'observabilityCredentials' },
    { rotate: 'credentials', phase: 'start' },
    { rotate: 'credentials', phase: 'complete' },
  ])
  assert.deepEqual(
    problems.filter((x) => !x.includes('409')),
    [],
  )
  await context.close()
})

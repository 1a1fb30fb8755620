// SPDX-License-Identifier: Apache-2.0
//
// A change of the certificate authorities of the garden. The garden has a seed whose gardenlet never comes back; another one joins.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, dark, garden, join, launch, open, phone, picture, read } from '../world.mjs'

const url = `${garden}/ui/operations/certificates`

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

const table = (page) => page.getByRole('region', { name: 'Authorities' })
const row = (page, name) =>
  table(page)
    .getByRole('row')
    .filter({ has: page.getByText(name, { exact: true }) })
const steps = (page) => page.getByRole('list', { name: 'Steps of the rotation' })
const following = (page, seed) => steps(page).getByRole('link', { name: seed, exact: true })
const quiet = (problems) => problems.filter((x) => !/status of (401|409)/.test(x))

/** When the authority of the port was made. */
async function madeAt(page) {
  const { items } = await read(page, '/appliance/certificates')
  return items.find((x) => x.name === 'server-ca' && x.state === 'ok').notBefore
}

async function start(page) {
  await page.goto(url)
  await table(page).getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Start the rotation' }).click()
  await page.getByText('The new authorities are trusted beside the current ones').waitFor()
}

async function askToComplete(page) {
  await table(page).getByRole('button', { name: 'Complete' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Complete the rotation' }).click()
  return dialog
}

/** The session ends with the former authorities. Then there is a link again as soon as the kubeconfig is another one. */
async function signInAgain(page) {
  await page.getByText('Your session has ended').first().waitFor()
  await page.getByLabel('Token').waitFor()
  for (const end = Date.now() + 30_000; ;) {
    try {
      await asAdmin(page)
      return
    } catch (thrown) {
      if (Date.now() > end) throw thrown
    }
  }
}

test('a rotation says which gardenlets have not followed, and shuts them out only by force', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/seeds?add`)
  await page.getByRole('dialog').getByLabel('Name of the seed').fill('faithful')
  await page.getByRole('dialog').getByRole('button', { name: 'Create the command' }).click()
  await join((await page.getByRole('dialog').locator('code').first().textContent()).trim())
  await page.getByText('The seed is ready and takes clusters.').waitFor({ timeout: 120_000 })
  const before = await madeAt(page)

  await page.goto(url)
  await table(page).getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByText('Nothing is refused before you complete the rotation').waitFor()
  await accessible(page, 'to rotate the authorities')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  assert.equal(await steps(page).count(), 0, 'who cancels starts nothing')

  await start(page)
  await following(page, 'forsaken').waitFor()
  await following(page, 'faithful').waitFor({ state: 'detached', timeout: 120_000 })
  assert.equal(await following(page, 'forsaken').count(), 1)
  await steps(page).getByText('One seed has not followed').waitFor()
  assert.equal(await row(page, 'server-ca').count(), 2, 'both authorities are shown')
  await row(page, 'server-ca').getByText('Rotating').waitFor()
  assert.equal(await madeAt(page), before, 'the port has the certificate of the former one')
  await steps(page).scrollIntoViewIfNeeded()
  await accessible(page, 'the rotation of the authorities')
  await picture(page, 'authorities-rotating')
  await dark(page)
  await accessible(page, 'the rotation of the authorities in the dark')
  await phone(page)
  await steps(page).scrollIntoViewIfNeeded()
  await picture(page, 'authorities-rotating-phone')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 800 })

  const dialog = await askToComplete(page)
  const reason = dialog.getByRole('alert')
  await reason.getByText('1 seeds').waitFor()
  assert.match(await reason.textContent(), /forsaken/)
  assert.doesNotMatch(await reason.textContent(), /faithful/)
  const force = dialog.getByRole('button', { name: 'Shut them out' })
  assert.ok(await force.isDisabled(), 'to force it has to be typed')
  await accessible(page, 'to complete a rotation too early')
  await picture(page, 'authorities-too-early')
  await dialog.getByRole('textbox').fill('authorities')
  await force.click()
  await signInAgain(page)

  await page.goto(url)
  await table(page).getByRole('button', { name: 'Rotate' }).waitFor({ timeout: 60_000 })
  assert.equal(await row(page, 'server-ca').count(), 1, 'the former authority is gone')
  assert.notEqual(await madeAt(page), before)
  assert.deepEqual(quiet(problems), [])
  await context.close()
})

test('a rotation that all have followed is completed without force; seeds that are shut out do not count', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/seeds/forsaken`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Shut out of the garden…' }).click()
  await page.getByLabel('Type forsaken to confirm').fill('forsaken')
  await page.getByRole('dialog').getByRole('button', { name: 'Shut out' }).click()
  await page.getByText('This seed is shut out of the garden').waitFor()

  await start(page)
  const before = await madeAt(page)
  await page.getByText('All gardenlets have taken them up').waitFor({ timeout: 120_000 })
  assert.equal(await following(page, 'forsaken').count(), 0)
  await steps(page).scrollIntoViewIfNeeded()
  await accessible(page, 'a rotation that can be completed')
  await picture(page, 'authorities-prepared')
  await askToComplete(page)
  await signInAgain(page)
  await page.goto(url)
  await table(page).getByRole('button', { name: 'Rotate' }).waitFor({ timeout: 60_000 })
  assert.notEqual(await madeAt(page), before)
  assert.deepEqual(quiet(problems), [])
  await context.close()
})

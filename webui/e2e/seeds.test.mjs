// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, garden, launch, open, phone, picture, tokenOf, withToken } from './world.mjs'

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

async function openDialog(page, seed) {
  await page.goto(`${garden}/ui/seeds/${seed}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Shut out of the garden…' }).click()
  return page.getByRole('dialog')
}

async function shutOut(page, seed, reason) {
  const dialog = await openDialog(page, seed)
  await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByLabel(`Type ${seed} to confirm`).fill(seed)
  await dialog.getByRole('button', { name: 'Shut out' }).click()
  await page.getByText('This seed is shut out of the garden').waitFor()
}

test('who shuts a seed out is told what that means, and what the seed could read', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  const dialog = await openDialog(page, 'eu-1')
  await dialog.getByText('garden-meadow/local').first().waitFor()
  await dialog.getByRole('link', { name: 'garden-meadow/orchid', exact: true }).waitFor()
  const go = dialog.getByRole('button', { name: 'Shut out' })
  assert.ok(await go.isDisabled())
  await dialog.getByLabel('Type eu-1 to confirm').fill('eu-')
  assert.ok(await go.isDisabled(), 'a part of the name is not enough')
  await accessible(page, 'to shut a seed out')
  await picture(page, 'seed-shut-out')
  await phone(page)
  await picture(page, 'seed-shut-out-phone')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  assert.deepEqual(problems, [])
  await context.close()
})

test('a seed is shut out and let in again, with its credentials and with new ones', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await shutOut(page, 'eu-2', 'the machine was stolen')
  await page.getByText('Reason: the machine was stolen').waitFor()
  await accessible(page, 'a seed that is shut out')
  await picture(page, 'seed-is-shut-out')
  await page.goto(`${garden}/ui/seeds`)
  await page.getByRole('table').locator('[data-index]').filter({ hasText: 'eu-2' }).getByText('Shut out').waitFor()
  await accessible(page, 'a list with a seed that is shut out')
  await picture(page, 'seeds-shut-out')

  await page.goto(`${garden}/ui/seeds/eu-2`)
  await page.getByRole('button', { name: 'Let it in again…' }).click()
  await accessible(page, 'to let a seed in again')
  await picture(page, 'seed-forgive')
  await page.getByRole('radio', { name: 'With those it has' }).check()
  await page.getByRole('dialog').getByRole('button', { name: 'Let it in' }).click()
  await page.getByText('This seed is shut out of the garden').waitFor({ state: 'detached' })

  await shutOut(page, 'eu-2', '')
  await page.getByRole('button', { name: 'Let it in again…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Let it in' }).click()
  await page.getByRole('dialog').getByText('terrarium token create --seed eu-2 --renew').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('This seed is shut out of the garden').waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
  await context.close()
})

test('others than administrators can do none of it', async () => {
  const { context, page, problems } = await open(browser)
  await withToken(page, await tokenOf('viewer'))
  await page.locator('#main').waitFor()
  await page.goto(`${garden}/ui/seeds/eu-1`)
  await page.getByText('GardenletReady').first().waitFor()
  assert.equal(await page.getByRole('button', { name: 'More actions' }).count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Access' }).count(), 0)
  assert.deepEqual(
    problems.filter((p) => p.includes('revocations')),
    [],
  )
  await context.close()
})

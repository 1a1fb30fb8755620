// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { asAdmin, garden, join, launch, open, patch, picture, read, tokenOf, withToken } from './world.mjs'

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

async function commandFor(page, name) {
  await page.goto(`${garden}/ui/seeds?add`)
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the seed').fill(name)
  await dialog.getByRole('button', { name: 'Create the command' }).click()
  return (await dialog.locator('code').first().textContent()).trim()
}

test('a seed is added by the command of the page, and its steps are seen', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  const command = await commandFor(page, 'new-1')
  assert.match(command, /^terrarium gardenlet join https:\/\/\S+ --token T10\S+ .*--name new-1/)
  await join(command)
  await page
    .getByText('The seed is ready and takes clusters.')
    .waitFor({ timeout: 120_000 })
    .catch(async (thrown) => {
      const { status } = await read(page, '/apis/core.gardener.cloud/v1beta1/seeds/new-1')
      throw new Error(`the seed is not ready: ${JSON.stringify(status)}`, { cause: thrown })
    })
  await picture(page, 'add-a-seed')
  assert.deepEqual(problems, [])
  await context.close()
})

test('a join token is listed and can be revoked', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  const command = await commandFor(page, 'never-joins')
  const [, id, secret] = command.match(/::([a-z0-9]{6})\.([a-z0-9]{16})/)
  await page.goto(`${garden}/ui/operations/tokens`)
  await page.getByText(id).first().waitFor()
  assert.ok(!(await page.locator('main').textContent()).includes(secret), 'the secret half is not shown again')
  await page.getByRole('button', { name: `Revoke ${id}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText(id, { exact: true }).first().waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
  await context.close()
})

test('the level of the log is changed', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/operations`)
  const level = page.getByLabel('Log level')
  await level.selectOption('Debug')
  await page.getByText('The log level is debug until the next start').waitFor()
  await page.reload()
  await level.waitFor()
  assert.equal(await level.inputValue(), 'debug')
  await level.selectOption('Info')
  await page.getByText('The log level is info').waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('operations are for administrators, and others are told so', async () => {
  const { context, page } = await open(browser)
  await withToken(page, await tokenOf('viewer'))
  await page.locator('#main').waitFor()
  await page.goto(`${garden}/ui/operations`)
  await page.getByText('No permission').first().waitFor()
  await context.close()
})

test('a cloud profile that changes is shown as it is', async () => {
  const { context, page } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/cloudprofiles/local`)
  await page.getByText('Kubernetes versions').waitFor()
  await patch('/apis/core.gardener.cloud/v1beta1/cloudprofiles/local', {
    spec: { kubernetes: { versions: [{ version: '1.36.3', classification: 'supported' }] } },
  })
  await page.getByText('supported').first().waitFor()
  await context.close()
})

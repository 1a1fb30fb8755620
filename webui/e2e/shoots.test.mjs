// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import {
  accessible,
  asAdmin,
  contained,
  create,
  garden,
  launch,
  open,
  patch,
  phone,
  picture,
  tokenOf,
  withToken,
} from './world.mjs'

const list = garden + '/ui/projects/garden-meadow/shoots'
const api = (name) => `/apis/core.gardener.cloud/v1beta1/namespaces/garden-meadow/shoots/${name}`
const row = (page, name) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

/** Runs a test as the administrator, on a page of its own. */
function asUser(name, path, run, options) {
  test(name, async () => {
    const { context, page } = await open(browser, options)
    await asAdmin(page)
    await page.goto(path)
    await page.locator('#main').waitFor()
    await run(page, context)
    await context.close()
  })
}

asUser('the search is in the address and finds by fields', list, async (page) => {
  await row(page, 'orchid').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('status:error,unhealthy')
  await row(page, 'ivy').waitFor()
  await row(page, 'orchid').waitFor({ state: 'detached' })
  await page.waitForURL(/q=status/)
  await page.reload()
  await row(page, 'ivy').waitFor()
  assert.equal(await row(page, 'orchid').count(), 0)
  await page.getByLabel('Search', { exact: true }).fill('nothing-has-this-name')
  await page.getByText('No cluster matches the search').waitFor()
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await row(page, 'orchid').waitFor()
})

asUser('rows are reached and opened by keys', list, async (page) => {
  await row(page, 'orchid').waitFor()
  await page
    .getByRole('table')
    .focus()
    .catch(() => {})
  await page.getByRole('link', { name: 'fern', exact: true }).focus()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.waitForFunction(() => document.activeElement?.textContent?.trim() === 'ivy')
  await page.keyboard.press('Enter')
  await page.waitForURL(/shoots\/ivy/)
})

asUser('the palette leads to a cluster', garden + '/ui/', async (page) => {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('orch')
  await page.getByRole('option', { name: 'orchid' }).waitFor()
  await picture(page, 'palette')
  await accessible(page, 'palette')
  await page.keyboard.press('Enter')
  await page.waitForURL(/shoots\/orchid/)
})

asUser('clusters are reconciled together', list, async (page) => {
  await row(page, 'tulip').getByRole('checkbox').check()
  await row(page, 'fern').getByRole('checkbox').check()
  await accessible(page, 'selection')
  await page.getByRole('toolbar').getByRole('button', { name: 'Reconcile' }).click()
  await page.getByText('Reconciliation requested: 2').waitFor()
  await page.getByRole('toolbar').waitFor({ state: 'detached' })
})

asUser('a manifest is edited while somebody else changes it', `${list}/orchid/yaml`, async (page) => {
  const editor = page.getByRole('textbox', { name: 'Manifest of orchid' })
  await editor.waitFor()
  await editor.click()
  await page.keyboard.press('Control+f')
  await page.keyboard.type('purpose: ')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Shift+End')
  await page.keyboard.type('development')
  await page.getByText('Changed, not applied').waitFor()

  await patch(api('orchid'), { spec: { maintenance: { autoUpdate: { kubernetesVersion: false } } } })
  await page.getByText('The object has changed on the server').waitFor()
  await page.getByRole('button', { name: 'Keep my changes' }).click()
  await page.getByText('The object has changed on the server').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Review changes' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('purpose: development').waitFor()
  assert.equal(
    await dialog.getByText('kubernetesVersion: false').count(),
    0,
    'the change of the other one is no change of mine',
  )
  await picture(page, 'review')
  await accessible(page, 'review')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Applied').waitFor()
  await page.goto(`${list}/orchid`)
  await page.getByText('development', { exact: true }).waitFor()
})

asUser('a manifest that the server refuses says what is wrong', `${list}/fern/yaml`, async (page) => {
  const editor = page.getByRole('textbox', { name: 'Manifest of fern' })
  await editor.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('\n')
  await page.keyboard.press('Home')
  await page.keyboard.type('nonsense: true\n')
  await page.getByRole('button', { name: 'Review changes' }).click()
  await page
    .getByRole('alert')
    .getByText(/nonsense/)
    .waitFor()
})

asUser('a lost connection is said, and everything comes back', list, async (page, context) => {
  // Pages are loaded when they are first opened.
  await page.getByRole('link', { name: 'orchid', exact: true }).click()
  await page.getByRole('heading', { name: 'Conditions' }).waitFor()
  await page.goBack()
  await row(page, 'fern').waitFor()
  await context.setOffline(true)
  await page.getByRole('link', { name: 'fern', exact: true }).click()
  await page.getByText('The garden does not answer').waitFor()
  await picture(page, 'offline')
  await context.setOffline(false)
  await page.getByRole('heading', { name: 'Conditions' }).waitFor()
})

test('long words of gardenlets and extensions stay in their cards', async () => {
  const { context, page, problems } = await open(browser)
  const [now, word] = [new Date().toISOString().replace(/\.\d+/, ''), 'NoSpaceAnywhere'.repeat(12)]
  await create(`
apiVersion: v1
kind: Event
metadata: {name: words, namespace: garden-meadow}
involvedObject: {apiVersion: core.gardener.cloud/v1beta1, kind: Shoot, name: daisy, namespace: garden-meadow}
type: Warning
reason: ${word}
message: ${word}
source: {component: ${word}}
`)
  await patch('/apis/core.gardener.cloud/v1beta1/namespaces/garden-meadow/shoots/daisy/status', {
    status: {
      lastErrors: [{ description: word, codes: [`ERR_${word}`], taskID: word, lastUpdateTime: now }],
      conditions: [
        { type: word, status: 'False', reason: word, message: word, lastTransitionTime: now, lastUpdateTime: now },
      ],
    },
  })
  await asAdmin(page)
  for (const tab of ['', 'timeline', 'events']) {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(`${garden}/ui/projects/garden-meadow/shoots/daisy/${tab}`)
    await page.locator('#main').getByText(word).first().waitFor()
    await contained(page, tab)
    await phone(page)
    await contained(page, `${tab} on a phone`)
  }
  assert.deepEqual(problems, [])
  await context.close()
})

test('somebody without permission is told so', async () => {
  const { context, page } = await open(browser)
  await withToken(page, await tokenOf('stranger'))
  await page.locator('#main').waitFor()
  await page.goto(list)
  await page.getByRole('heading', { name: 'No permission' }).waitFor()
  assert.equal(await page.getByRole('table').count(), 0, 'there is no empty table')
  await picture(page, 'no-permission')
  await accessible(page, 'no-permission')
  await context.close()
})

test('a viewer sees the own project, and no administration', async () => {
  const { context, page } = await open(browser)
  await withToken(page, await tokenOf('viewer'))
  await page.locator('#main').waitFor()
  await page.goto(garden + '/ui/shoots')
  await page.getByRole('main').getByRole('link', { name: 'meadow' }).click()
  await row(page, 'orchid').waitFor()
  assert.equal(await page.getByRole('link', { name: 'Operations' }).count(), 0)
  await context.close()
})

asUser(
  'a cluster is created from a form and flipped to YAML',
  `${garden}/ui/projects/garden-meadow/new-shoot`,
  async (page) => {
    await page.getByLabel('Name').first().fill('lily')
    await page.getByLabel('Name').first().press('Tab')
    await page.getByRole('button', { name: 'YAML' }).click()
    await page.getByText('name: lily').waitFor()
    await picture(page, 'create-yaml')
    await page.getByRole('button', { name: 'Form' }).click()
    assert.equal(await page.getByLabel('Name').first().inputValue(), 'lily')
    await picture(page, 'create')
    await accessible(page, 'create')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('The server accepts it').waitFor()
    await page.getByRole('button', { name: 'Create cluster' }).click()
    await page.waitForURL(/shoots\/lily/)
    await page
      .getByText('Nothing has happened yet')
      .or(page.getByText(/Creation/))
      .first()
      .waitFor()
  },
)

asUser('a cluster is deleted by typing its name', `${list}/daisy`, async (page) => {
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  const button = dialog.getByRole('button', { name: 'Delete' })
  assert.equal(await button.isDisabled(), true)
  await dialog.getByRole('textbox').fill('dais')
  assert.equal(await button.isDisabled(), true, 'a part of the name is not enough')
  await accessible(page, 'delete')
  await dialog.getByRole('textbox').fill('daisy')
  await button.click()
  await page.getByText('Deletion requested').waitFor()
})

asUser('clusters are deleted together by typing how many they are', list, async (page) => {
  for (const name of ['fern', 'ivy']) await row(page, name).getByRole('checkbox').check()
  await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog')
  const button = dialog.getByRole('button', { name: 'Delete' })
  assert.equal(await button.isDisabled(), true)
  await dialog.getByText('garden-meadow/fern').waitFor()
  await dialog.getByText('garden-meadow/ivy').waitFor()
  await dialog.getByRole('textbox').fill('delete 2 clusters')
  await accessible(page, 'delete several')
  await picture(page, 'bulk-delete')
  await button.click()
  await page.getByText('Deletion requested: 2').waitFor()
})

asUser('the maintenance window and a hibernation schedule are set', `${list}/orchid/settings`, async (page) => {
  const window = page.getByRole('region', { name: 'Maintenance' })
  await window.getByLabel('From').fill('22:00')
  await window.getByLabel('To').fill('22:10')
  await window.getByText('between 30 minutes and 6 hours').waitFor()
  assert.equal(await window.getByRole('button', { name: 'Save' }).isDisabled(), true)
  await window.getByLabel('To').fill('23:00')
  await window.getByText('60 minutes every day').waitFor()
  await window.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  const sleep = page.getByRole('region', { name: 'Hibernation schedule' })
  await sleep.getByRole('button', { name: 'Add a schedule' }).click()
  await sleep.getByLabel('Hibernate at').fill('0 20 * * *')
  await sleep.getByLabel('Wake up at').fill('0 6 * * 1-5')
  await accessible(page, 'settings')
  await sleep.getByRole('button', { name: 'Save' }).click()
  await sleep.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
  await page.reload()
  assert.equal(await sleep.getByLabel('Hibernate at').inputValue(), '0 20 * * *')
  assert.equal(await window.getByLabel('From').inputValue(), '22:00')
})

// SPDX-License-Identifier: Apache-2.0
//
// What a gardenlet does to a cluster, as people see it: the flow as a picture, while it runs and after it has failed, and clusters that
// are put to sleep and woken up.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, dark, garden, gardenlet, launch, open, phone, picture } from './world.mjs'

const list = garden + '/ui/projects/garden-meadow/shoots'
const row = (page, name) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

const gantt = (page) => page.getByRole('list', { name: 'What took how long' })
const tasks = (page) => gantt(page).getByRole('listitem')

test('the flow of a cluster is a picture, live while it runs', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${list}/tulip/flow`)
  await page.getByText('No tasks recorded').waitFor()
  const done = gardenlet('tulip')
  // While it runs, tasks that have ended and tasks that go on are both there, and they become more.
  await gantt(page).locator('.task.busy').first().waitFor()
  await gantt(page).locator('.task.ok').first().waitFor()
  await page.getByText('running', { exact: true }).waitFor()
  const early = await tasks(page).count()
  const first = await tasks(page).first().textContent()
  assert.match(first, /Deploying namespace/, 'tasks that run have not begun before the first one')
  await picture(page, 'flow-running')
  await page.waitForFunction((n) => document.querySelectorAll('.gantt [role=listitem]').length > n, early)
  await done
  await page.getByText('succeeded', { exact: true }).waitFor()
  await gantt(page).locator('.task.busy').first().waitFor({ state: 'detached' })
  // The end of the operation is known by its status, which may come before the last tasks.
  await tasks(page).nth(30).waitFor()
  await page.waitForFunction(
    () => document.querySelectorAll('.gantt [role=listitem]').length === document.querySelectorAll('svg .node').length,
  )
  const all = await tasks(page).count()

  // The graph has the same tasks, and the edges that the gardenlet waited along.
  const nodes = page.locator('svg .node')
  await nodes.first().waitFor()
  assert.equal(await nodes.count(), all)
  assert.ok((await page.locator('svg .edge').count()) >= all, 'tasks wait for others')
  assert.ok((await gantt(page).locator('.task.critical').count()) > 3, 'the chain that took longest is marked')
  await accessible(page, 'flow')
  await nodes.nth(20).scrollIntoViewIfNeeded()
  await picture(page, 'flow-graph')
  await gantt(page).scrollIntoViewIfNeeded()
  await picture(page, 'flow')
  await dark(page)
  await picture(page, 'flow-dark')
  await accessible(page, 'flow in the dark')

  // A task says what it waited for; those lead to their own.
  await gantt(page)
    .getByRole('button', { name: /^Waiting for apiserver \S+$/ })
    .click()
  const details = page.getByRole('region', { name: 'Waiting for apiserver', exact: true })
  await details.getByText(/took \S+/).waitFor()
  await details.getByRole('button', { name: 'Deploying apiserver', exact: true }).click()
  await page.getByRole('region', { name: 'Deploying apiserver', exact: true }).waitFor()
  await phone(page)
  await picture(page, 'flow-phone')
  assert.deepEqual(problems, [])
  await context.close()
})

test('a task that fails is marked, with its error, in the picture and in the timeline', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await gardenlet('fern', 'worker-wait')
  await page.goto(`${list}/fern/flow`)
  await gantt(page).locator('.task.bad').first().click()
  await page.getByText('no capacity left in zone a').first().waitFor()
  await page.getByText('failed', { exact: true }).waitFor()
  assert.equal(await page.locator('svg .node.bad').count(), 1)
  await accessible(page, 'a flow that failed')
  await picture(page, 'flow-failed')
  await page.goto(`${list}/fern`)
  await page.getByText('no capacity left in zone a').first().waitFor()
  await page.goto(`${list}/fern/timeline`)
  await page
    .getByText(/Reconciliation/)
    .first()
    .waitFor()
  await page
    .getByText(/^\d+ tasks in /)
    .first()
    .click()
  await accessible(page, 'timeline')
  await picture(page, 'timeline')
  await dark(page)
  await picture(page, 'timeline-dark')
  await phone(page)
  await picture(page, 'timeline-phone')
  assert.deepEqual(problems, [])
  await context.close()
})

test('a cluster is put to sleep and woken up from its page', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${list}/moss`)
  await page.getByRole('heading', { name: 'moss' }).waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Hibernate' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await accessible(page, 'hibernate')
  await picture(page, 'hibernate')
  await dialog.getByRole('button', { name: 'Hibernate' }).click()
  await page.getByText('Hibernation requested').waitFor()
  await gardenlet('moss')
  await page.getByText('Hibernated', { exact: true }).first().waitFor()
  await picture(page, 'hibernated')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Wake up' }).click()
  await page.getByText('Wake-up requested').waitFor()
  await gardenlet('moss')
  await page.getByText('Hibernated', { exact: true }).first().waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
  await context.close()
})

test('clusters are put to sleep and woken up together', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(list)
  const both = ['orchid', 'tulip']
  const choose = async () => {
    for (const name of both) await row(page, name).getByRole('checkbox').check()
  }
  await choose()
  const bar = page.getByRole('toolbar')
  await picture(page, 'bulk')
  await bar.getByRole('button', { name: 'Hibernate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Hibernate' }).click()
  await page.getByText('Hibernation requested: 2').waitFor()
  await bar.waitFor({ state: 'detached' })
  for (const name of both) {
    await gardenlet(name)
    await row(page, name).getByText('Hibernated').waitFor()
  }
  await choose()
  await bar.getByRole('button', { name: 'Wake up' }).click()
  await page.getByText('Wake-up requested: 2').waitFor()
  for (const name of both) {
    await gardenlet(name)
    await row(page, name).getByText('Hibernated').waitFor({ state: 'detached' })
  }
  assert.deepEqual(problems, [])
  await context.close()
})

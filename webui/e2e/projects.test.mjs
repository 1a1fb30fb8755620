// SPDX-License-Identifier: Apache-2.0
//
// What belongs to a project: credentials, quotas, accounts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'

import { parse } from 'yaml'

import { accessible, asAdmin, contained, create, garden, launch, open, patch, phone, picture } from './world.mjs'

const project = `${garden}/ui/projects/garden-meadow`
const main = (page) => page.locator('#main')

let browser
before(async () => {
  browser = await launch()
  await create(`
apiVersion: core.gardener.cloud/v1beta1
kind: Quota
metadata: {name: small, namespace: garden-meadow}
spec: {scope: {apiVersion: v1, kind: Secret}, metrics: {cpu: "64", memory: 256Gi}}
---
apiVersion: v1
kind: Secret
metadata: {name: older, namespace: garden-meadow}
type: Opaque
---
apiVersion: core.gardener.cloud/v1beta1
kind: SecretBinding
metadata: {name: older, namespace: garden-meadow}
provider: {type: local}
secretRef: {name: older, namespace: garden-meadow}
quotas: [{name: small, namespace: garden-meadow}]
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: ours, namespace: garden-meadow}
spec: {hard: {count/configmaps: "10", count/shoots.core.gardener.cloud: "40"}}
`)
})
after(() => browser.close())

test('credentials of both kinds are shown, with what limits them', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${project}/credentials`)
  const item = (name) => main(page).getByRole('listitem').filter({ hasText: name })
  await item('CredentialsBinding').filter({ hasText: 'Secret garden-meadow/local' }).first().waitFor()
  const older = item('SecretBinding')
  await older.getByText('Secret garden-meadow/older').waitFor()
  await older.getByText('limited by small').waitFor()
  await accessible(page, 'credentials')
  await picture(page, 'project-credentials-both')
  await phone(page)
  await contained(page, 'credentials on a phone')
  await page.setViewportSize({ width: 1280, height: 800 })

  // One kind may be readable without the other.
  await page.route(/secretbindings/, (route) =>
    route.fulfill({ status: 403, json: { kind: 'Status', code: 403, reason: 'Forbidden', message: 'not these' } }),
  )
  await page.reload()
  await item('CredentialsBinding').first().waitFor()
  await page.getByText('Secret bindings, the older kind, are missing here').waitFor()
  await accessible(page, 'credentials of which some cannot be read')
  assert.deepEqual(
    problems.filter((x) => !x.includes('status of 403')),
    [],
  )
  await context.close()
})

test('quotas are shown with their use, which changes without a reload', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${project}/quotas`)
  const quota = page.getByRole('region', { name: 'ours', exact: true })
  const used = async () => Number((await quota.getByText(/^\d+ of 10$/).textContent()).split(' ')[0])
  await quota.getByRole('progressbar', { name: 'count/configmaps' }).waitFor()
  const before = await used()
  await accessible(page, 'quotas')
  await picture(page, 'project-quotas-used')
  await create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: one-more, namespace: garden-meadow}}`)
  await quota.getByText(`${before + 1} of 10`, { exact: true }).waitFor()
  await patch('/api/v1/namespaces/garden-meadow/resourcequotas/ours', {
    spec: { hard: { 'count/configmaps': '20', 'count/shoots.core.gardener.cloud': '40' } },
  })
  await quota.getByText(`${before + 1} of 20`, { exact: true }).waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('a service account is created, gets a kubeconfig, and is deleted', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${project}/accounts`)
  const account = main(page).getByRole('listitem').filter({ hasText: 'pipeline' })
  await page.getByLabel('Name of a service account').fill('pipeline')
  await page.getByRole('button', { name: 'Create' }).click()
  await account.waitFor()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    account.getByRole('button', { name: /kubeconfig/i }).click(),
  ])
  const config = parse(readFileSync(await file.path(), 'utf8'))
  assert.match(file.suggestedFilename(), /pipeline/)
  const { token } = config.users[0].user
  assert.match(atob(token.split('.')[1]), /system:serviceaccount:garden-meadow:pipeline/)
  await accessible(page, 'service accounts')
  await account.getByRole('button', { name: /delete/i }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await account.waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
  await context.close()
})

test('a project that is not there offers nothing that could be done in it', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  for (const path of ['', '/members', '/accounts', '/credentials', '/quotas', '/yaml', '/shoots']) {
    await page.goto(`${garden}/ui/projects/garden-nowhere${path}`)
    await main(page).getByText('There is no project “nowhere”.').waitFor()
    assert.equal(await main(page).getByRole('textbox', { name: 'Name of a service account' }).count(), 0, path)
    assert.equal(await main(page).getByText('No clusters yet').count(), 0, path)
  }
  assert.deepEqual(problems, [])
  await context.close()
})

test('who takes the last role of a member away is asked, as for its removal', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${project}/members`)
  await page.getByLabel('Name', { exact: true }).fill('rose@example.org')
  await page.keyboard.press('Enter')
  const rose = main(page).getByRole('listitem').filter({ hasText: 'rose@example.org' })
  const dialog = page.getByRole('dialog', { name: 'Remove rose@example.org' })
  await rose.getByRole('button', { name: 'Viewer' }).click()
  await dialog.waitFor()
  await accessible(page, 'removal of a member')
  await page.keyboard.press('Escape')
  await rose.getByRole('button', { name: 'Remove rose@example.org' }).click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await rose.getByRole('button', { name: 'Viewer', pressed: true }).waitFor()
  await rose.getByRole('button', { name: 'Remove rose@example.org' }).click()
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('Member removed').waitFor()
  await rose.waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
  await context.close()
})

test('a change of YAML that cannot be read is said to be wrong, and is not lost by a click', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${project}/yaml`)
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('\nwrong: [')
  await page.getByRole('button', { name: 'Review changes' }).click()
  await main(page).getByRole('alert').getByText('Some values are wrong.').waitFor()
  const [dialog, overview] = [
    page.getByRole('dialog', { name: 'Leave without your changes?' }),
    page.getByRole('link', { name: 'Overview' }),
  ]
  for (const away of [overview, page.getByRole('link', { name: 'Seeds' })]) {
    await away.click()
    await accessible(page, 'the question')
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('.cm-content').getByText('wrong').waitFor()
  }
  await overview.click()
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await main(page).getByText('The project of the playground').waitFor()
  await page.getByRole('link', { name: 'YAML' }).click()
  await page.locator('.cm-content').getByText('kind').first().waitFor()
  await overview.click()
  await main(page).getByText('The project of the playground').waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, contained, dark, garden, launch, open, patch, phone, picture, settled } from './world.mjs'

let browser
after(() => browser.close())

// Each page with a text that it shows once it is loaded.
const pages = {
  home: ['/ui/', 'Home'],
  shoots: ['/ui/projects/garden-meadow/shoots', 'orchid'],
  'all-shoots': ['/ui/shoots', 'tulip'],
  shoot: ['/ui/projects/garden-meadow/shoots/ivy', 'ERR_INFRA_UNAUTHORIZED'],
  'shoot-timeline': ['/ui/projects/garden-meadow/shoots/ivy/timeline', 'Requests'],
  'shoot-workers': ['/ui/projects/garden-meadow/shoots/orchid/workers', 'worker'],
  'shoot-settings': ['/ui/projects/garden-meadow/shoots/orchid/settings', 'Credentials rotation'],
  'shoot-access': ['/ui/projects/garden-meadow/shoots/orchid/access', 'Download kubeconfig'],
  'shoot-events': ['/ui/projects/garden-meadow/shoots/orchid/events', /event/i],
  'shoot-yaml': ['/ui/projects/garden-meadow/shoots/orchid/yaml', 'apiVersion'],
  seeds: ['/ui/seeds', 'us-1'],
  seed: ['/ui/seeds/us-1', 'gardener-resource-manager'],
  'seed-access': ['/ui/seeds/eu-1/access', 'with credentials'],
  'seed-shoots': ['/ui/seeds/eu-1/shoots', 'orchid'],
  'seed-extensions': ['/ui/seeds/eu-1/extensions', 'provider-local'],
  'seed-timeline': ['/ui/seeds/eu-1/timeline', 'Requests'],
  'seed-events': ['/ui/seeds/eu-1/events', /event/i],
  'seed-yaml': ['/ui/seeds/eu-1/yaml', 'apiVersion'],
  projects: ['/ui/projects', 'meadow'],
  project: ['/ui/projects/garden-meadow', 'meadow'],
  'project-members': ['/ui/projects/garden-meadow/members', 'viewer'],
  'project-accounts': ['/ui/projects/garden-meadow/accounts', 'stranger'],
  'project-credentials': ['/ui/projects/garden-meadow/credentials', 'garden-meadow/local'],
  'project-quotas': ['/ui/projects/garden-meadow/quotas', ' of '],
  'project-yaml': ['/ui/projects/garden-meadow/yaml', 'apiVersion'],
  'new-shoot': ['/ui/projects/garden-meadow/new-shoot', 'Name'],
  profiles: ['/ui/cloudprofiles', 'local'],
  profile: ['/ui/cloudprofiles/local', 'Kubernetes versions'],
  'profile-yaml': ['/ui/cloudprofiles/local/yaml', 'apiVersion'],
  extensions: ['/ui/extensions', 'provider-local'],
  extension: ['/ui/extensions/provider-local', 'eu-1'],
  'extension-yaml': ['/ui/extensions/provider-local/yaml', 'apiVersion'],
  server: ['/ui/operations', 'Parts of the server'],
  snapshots: ['/ui/operations/snapshots', 'Snapshots'],
  audit: ['/ui/operations/audit', 'events'],
  tokens: ['/ui/operations/tokens', 'Join tokens'],
  certificates: ['/ui/operations/certificates', 'serving'],
  configuration: ['/ui/operations/configuration', 'ServerConfiguration'],
  'managed-seeds': ['/ui/operations/managed-seeds', 'There are no managed seeds'],
  bastions: ['/ui/operations/bastions', 'There are no bastions'],
}

let state
before(async () => {
  browser = await launch()
  const { context, page } = await open(browser)
  await asAdmin(page)
  state = await context.storageState()
  await context.close()
})

for (const [name, [path, text]] of Object.entries(pages)) {
  test(`page ${name}: light, dark and on a phone, without errors, accessible`, async () => {
    const { context, page, problems } = await open(browser, { storageState: state, colorScheme: 'light' })
    await page.goto(garden + path)
    await page.locator('#main').getByText(text).filter({ visible: true }).first().waitFor()
    await settled(page)
    await picture(page, name)
    await accessible(page, name)
    await dark(page)
    await picture(page, `${name}-dark`)
    await accessible(page, `${name} in the dark`)
    await phone(page)
    await contained(page, `${name} on a phone`)
    await picture(page, `${name}-phone`)
    assert.deepEqual(problems, [], 'the console is empty')
    await context.close()
  })
}

test('a change by somebody else appears without a reload', async () => {
  const { context, page } = await open(browser)
  await asAdmin(page)
  const progress = (percent) =>
    patch('/apis/core.gardener.cloud/v1beta1/namespaces/garden-meadow/shoots/moss/status', {
      status: { lastOperation: { state: 'Processing', progress: percent } },
    })
  await progress(45)
  await page.goto(`${garden}/ui/projects/garden-meadow/shoots/moss`)
  await page.getByText('45%').first().waitFor()
  await progress(73)
  await page.getByText('73%').first().waitFor()
  await context.close()
})

test('a lost connection is said, and ends', async () => {
  const { context, page } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/seeds`)
  await page.getByText('eu-1').first().waitFor()
  await context.setOffline(true)
  await page.getByText('No connection since').first().waitFor()
  await picture(page, 'offline')
  await context.setOffline(false)
  await page.getByText('No connection since').first().waitFor({ state: 'detached' })
  await context.close()
})

// SPDX-License-Identifier: Apache-2.0
//
// What each page says when it may not read, when the garden fails, and while nothing has come yet: never an empty table, and never
// nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, garden, launch, open, phone, picture, tokenOf, withToken } from './world.mjs'

const shoot = '/ui/projects/garden-meadow/shoots/orchid'
const project = '/ui/projects/garden-meadow'
// Each page with the requests of which it consists. Who may not list all clusters or projects is shown the own ones: see below.
const pages = {
  shoots: [`${project}/shoots`, /garden-meadow\/shoots/],
  shoot: [shoot, /garden-meadow\/shoots/],
  'shoot-timeline': [`${shoot}/timeline`, /timelines/],
  'shoot-flow': [`${shoot}/flow`, /timelines/],
  'shoot-events': [`${shoot}/events`, /\/events/],
  seeds: ['/ui/seeds', /v1beta1\/seeds/],
  seed: ['/ui/seeds/eu-1', /v1beta1\/seeds/],
  'seed-shoots': ['/ui/seeds/eu-1/shoots', /v1beta1\/shoots/],
  'seed-extensions': ['/ui/seeds/eu-1/extensions', /controllerinstallations/],
  project: [project, /v1beta1\/projects/],
  'project-accounts': [`${project}/accounts`, /serviceaccounts/],
  'project-credentials': [`${project}/credentials`, /credentialsbindings|secretbindings/],
  'project-quotas': [`${project}/quotas`, /quotas/],
  profiles: ['/ui/cloudprofiles', /cloudprofiles/],
  profile: ['/ui/cloudprofiles/local', /cloudprofiles/],
  extensions: ['/ui/extensions', /controllerregistrations/],
  extension: ['/ui/extensions/provider-local', /controllerregistrations/],
  server: ['/ui/operations', /\/ui\/status|appliance\/status/],
  tokens: ['/ui/operations/tokens', /\/secrets/],
  certificates: ['/ui/operations/certificates', /appliance\/certificates/],
  configuration: ['/ui/operations/configuration', /appliance\/configuration/],
  'managed-seeds': ['/ui/operations/managed-seeds', /managedseeds/],
  bastions: ['/ui/operations/bastions', /bastions/],
}
const status = (code, reason, message) => ({ status: code, json: { kind: 'Status', code, reason, message } })

let browser, state
before(async () => {
  browser = await launch()
  const { context, page } = await open(browser)
  await asAdmin(page)
  state = await context.storageState()
  await context.close()
})
after(() => browser.close())

for (const [name, [path, requests]] of Object.entries(pages)) {
  test(`page ${name}: no permission, an error and loading are said`, async () => {
    const { context, page, problems } = await open(browser, { storageState: state })
    const main = page.locator('#main')
    let answer = status(403, 'Forbidden', 'user "admin" cannot list this')
    let waiting = []
    await page.route(
      (url) => url.pathname.startsWith('/ui/') && requests.test(url.pathname),
      async (route) => {
        if (route.request().resourceType() === 'document' || route.request().resourceType() === 'script')
          return route.continue()
        if (answer) return route.fulfill(answer)
        waiting.push(route)
      },
    )
    await page.goto(garden + path)
    await main.getByText('No permission').first().waitFor()
    assert.equal(await main.getByRole('table').count(), 0, 'there is no empty table')
    await accessible(page, `${name} without permission`)

    answer = status(500, 'InternalError', 'the disk is gone')
    await page.reload()
    await main.getByText('the disk is gone').first().waitFor()
    await accessible(page, `${name} with an error`)
    await phone(page)
    await picture(page, `state-${name}-error-phone`)

    answer = undefined
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.reload()
    await main.getByRole('status', { name: 'Loading' }).first().waitFor()
    await Promise.all(waiting.map((route) => route.abort()))
    assert.deepEqual(
      problems.filter((x) => !/status of (403|500)|ERR_FAILED/.test(x)),
      [],
    )
    await context.close()
  })
}

// The two lists of the whole garden, with the request for it, and what they say if there is nothing in it.
const lists = {
  'all-shoots': ['/ui/shoots', /v1beta1\/shoots$/, 'No clusters yet'],
  projects: ['/ui/projects', /v1beta1\/projects$/, 'No projects yet'],
}

for (const [name, [path, request, none]] of Object.entries(lists)) {
  test(`list ${name}: an error, loading and that there is nothing are said`, async () => {
    const { context, page, problems } = await open(browser, { storageState: state })
    const main = page.locator('#main')
    let answer = () => status(500, 'InternalError', 'the disk is gone')
    const waiting = []
    await page.route(
      (url) => request.test(url.pathname),
      async (route) => {
        const is = answer(new URL(route.request().url()))
        return is ? route.fulfill(is) : void waiting.push(route)
      },
    )
    await page.goto(garden + path)
    await main.getByText('the disk is gone').first().waitFor()
    assert.equal(await main.getByRole('table').count(), 0, 'there is no empty table')
    await accessible(page, `${name} with an error`)
    await phone(page)
    await picture(page, `state-${name}-error-phone`)
    await page.setViewportSize({ width: 1280, height: 800 })

    // What a watch waits for does not come.
    answer = (url) =>
      url.searchParams.has('watch')
        ? undefined
        : {
            json: {
              apiVersion: 'core.gardener.cloud/v1beta1',
              kind: 'List',
              metadata: { resourceVersion: '1' },
              items: [],
            },
          }
    // The page tries again by itself as well, and then the button is gone.
    await main
      .getByRole('button', { name: 'Try again' })
      .click({ timeout: 1_000 })
      .catch(() => {})
    await main.getByText(none).first().waitFor()
    assert.equal(await main.getByRole('table').count(), 0, 'there is no empty table')
    await accessible(page, `${name} with nothing`)
    await picture(page, `state-${name}-none`)

    answer = () => undefined
    await page.reload()
    await main.getByRole('status', { name: 'Loading' }).first().waitFor()
    assert.equal(await main.getByText(none).count(), 0, 'nothing is said before it is known')
    await Promise.all(waiting.map((route) => route.abort().catch(() => {})))
    assert.deepEqual(
      problems.filter((x) => !/status of 500|ERR_FAILED/.test(x)),
      [],
    )
    await context.close()
  })

  test(`list ${name}: who may not read all sees the own ones, or is told that there are none`, async () => {
    for (const [user, text] of [
      ['viewer', 'meadow'],
      ['stranger', name === 'projects' ? 'You are a member of no project' : 'No permission'],
    ]) {
      const { context, page } = await open(browser)
      const main = page.locator('#main')
      await withToken(page, await tokenOf(user))
      await main.waitFor()
      // Nothing is said before it is known which projects are the own ones.
      let go
      const gate = new Promise((resolve) => (go = resolve))
      await page.route('**/ui/session/projects', async (route) => {
        await gate
        await route.continue()
      })
      await page.goto(garden + path)
      await main.getByRole('status', { name: 'Loading' }).first().waitFor()
      assert.equal(await main.getByText(/No permission|member of no|No projects/).count(), 0, 'not yet')
      go()
      await main.getByText(text).first().waitFor()
      if (user === 'stranger') assert.equal(await main.getByRole('table').count(), 0, 'there is no empty table')
      await accessible(page, `${name} of ${user}`)
      await picture(page, `state-${name}-${user}`)

      await page.unroute('**/ui/session/projects')
      await page.route('**/ui/session/projects', (route) => route.fulfill({ status: 500, body: 'the disk is gone' }))
      await page.reload()
      await main.getByText('the disk is gone').first().waitFor()
      await context.close()
    }
  })
}

// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, garden, launch, newCode, open, picture, tokenOf, withToken } from './world.mjs'

let browser
before(async () => (browser = await launch()))
after(() => browser.close())

test('a link signs in once, and its code does not stay in the address', async () => {
  const { context, page, problems } = await open(browser)
  const code = await newCode()
  await page.goto(`${garden}/ui/sign-in#code=${code}`)
  await page.locator('#main').waitFor()
  assert.ok(!page.url().includes(code), page.url())
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))
  const { csrf } = await page.evaluate(async () => (await fetch('/ui/session')).json())
  assert.ok(!kept.includes(csrf) && !kept.includes('__Host-'), `scripts find no credential: ${kept}`)
  assert.deepEqual(problems, [])

  const other = await open(browser)
  await other.page.goto(`${garden}/ui/sign-in#code=${code}`)
  await other.page.getByRole('alert').waitFor()
  await Promise.all([context.close(), other.context.close()])
})

test('a wrong token is refused, and the reason is said', async () => {
  const { context, page } = await open(browser)
  await withToken(page, 'eyJhbGciOiJub25lIn0.e30.x')
  await page.getByRole('alert').waitFor()
  await accessible(page, 'sign-in')
  await picture(page, 'sign-in')
  await context.close()
})

test('an account elsewhere signs in, and the page that was asked for is shown', async () => {
  const { context, page, problems } = await open(browser)
  await page.goto(`${garden}/ui/seeds`)
  const way = page.getByRole('link', { name: 'Continue with Example' })
  await way.waitFor()
  await accessible(page, 'sign-in with an issuer')
  await picture(page, 'sign-in-issuer')
  await way.click()
  // This is another site: localhost instead of 127.0.0.1.
  await page.getByRole('link', { name: 'Sign in as alice' }).click()
  await page.waitForURL(`${garden}/ui/seeds`)
  await page.locator('#main').waitFor()
  const { user } = await page.evaluate(async () => (await fetch('/ui/session')).json())
  assert.equal(user.name, 'oidc:alice')
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))
  assert.ok(!kept.includes('eyJ') && !kept.includes('__Host-'), `scripts find no credential: ${kept}`)
  // Alice may read nothing yet, and browsers write the refusals of requests to the console.
  assert.deepEqual(
    problems.filter((p) => !/status of 40[13]/.test(p)),
    [],
  )
  await context.close()
})

test('a sign-in that this browser has not begun is refused, and the reason is said', async () => {
  const { context, page } = await open(browser)
  await page.goto(`${garden}/ui/session/oidc/callback?code=stolen&state=guessed`)
  await page.getByRole('alert').getByText('was begun in another browser').waitFor()
  await context.close()
})

test('who is no member sees that nothing may be read, and not an empty table', async () => {
  const { context, page } = await open(browser)
  await withToken(page, await tokenOf('stranger'))
  await page.locator('#main').waitFor()
  await page.goto(`${garden}/ui/projects/garden-meadow/shoots`)
  await page.getByText('No permission').first().waitFor()
  await accessible(page, 'no permission')
  await context.close()
})

test('a member who may read sees the clusters of the project', async () => {
  const { context, page } = await open(browser)
  await withToken(page, await tokenOf('viewer'))
  await page.locator('#main').waitFor()
  await page.goto(`${garden}/ui/projects/garden-meadow/shoots`)
  await page.getByText('orchid').first().waitFor()
  await context.close()
})

test('the page asked for is shown after the sign-in', async () => {
  const { context, page } = await open(browser)
  await page.goto(`${garden}/seeds/eu-1`)
  await page.getByLabel('Token').fill(await tokenOf('viewer'))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/ui/seeds/eu-1')
  await context.close()
})

test('who signs out is asked to sign in again, in all windows', async () => {
  const { context, page } = await open(browser)
  await asAdmin(page)
  const second = await context.newPage()
  await second.goto(`${garden}/ui/seeds`)
  await second.getByText('eu-1').first().waitFor()
  await page.evaluate(async () => {
    const { csrf } = await (await fetch('/ui/session')).json()
    await fetch('/ui/session', { method: 'DELETE', headers: { 'X-CSRF-Token': csrf } })
  })
  await second.getByLabel('Token').waitFor()
  await context.close()
})

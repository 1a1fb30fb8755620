// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the browser share: the browser, its pages, and what only others than their user can do. The test tests/ui starts
// a garden with objects in it and says in the environment where it is.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join as joined } from 'node:path'

import { chromium } from 'playwright-core'

const { GARDEN, CONTROL, CHROMIUM, SCREENSHOTS } = process.env
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const garden = GARDEN
// How long something may take that a page waits for, in milliseconds: also on a busy machine.
export const patience = 60_000

/** Starts the browser; as root it has no sandbox, which only its own pages need here. */
export function launch() {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** Opens a page that remembers what went wrong in it. */
export async function open(browser, options = {}) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(patience)
  const problems = []
  // Other programs of the machine may change its network, for example seeds that begin or end. Browsers then give up all requests, which
  // the pages repeat.
  page.on('console', (m) => m.type() === 'error' && !/ERR_NETWORK_CHANGED/.test(m.text()) && problems.push(m.text()))
  page.on('pageerror', (e) => problems.push(String(e)))
  page.goto = persistent(page)
  return { context, page, problems }
}

/** Goes to a page, and once more if the network has changed while its first scripts were loaded: then no browser shows anything. */
function persistent(page) {
  const goto = page.goto.bind(page)
  const empty = () => page.evaluate(() => document.querySelector('#app')?.childElementCount === 0).catch(() => false)
  return async (...to) => {
    const answer = await goto(...to).catch((thrown) => {
      if (!/ERR_NETWORK_CHANGED/.test(String(thrown))) throw thrown
      return goto(...to)
    })
    return (await empty()) ? page.reload() : answer
  }
}

async function control(path, body) {
  const answer = await fetch(CONTROL + path, { method: 'POST', body })
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return text
}

/** The code of a new one-time link. */
export const newCode = () => control('/code')

/** A token of a service account of the project. */
export const tokenOf = (user) => control(`/token?user=${user}`)

/** Runs the command that the page shows for a new seed, as somebody does who pastes it. */
export const join = (command) => control('/join', command)

/** Has a gardenlet run an operation on a cluster; a task of it can fail. It returns once the operation has ended. */
export const gardenlet = (shoot, fail = '') => control(`/gardenlet?shoot=${shoot}&fail=${fail}`)

/** Has a gardenlet publish what is needed for kubeconfigs of a cluster. */
export const reach = (shoot) => control(`/reach?shoot=${shoot}`)

/** Creates objects in YAML as somebody else, unless they are there. */
export const create = (yaml) => control('/create', yaml)

/** Patches an object as somebody else. */
export const patch = (path, change) => control(`/patch?path=${encodeURIComponent(path)}`, JSON.stringify(change))

/** What the API of the garden answers to a page for a path, with the session of the page. */
export const read = (page, path) => page.evaluate(async (p) => (await fetch('/ui/kube' + p)).json(), path)

/** Signs in as the administrator. */
export async function asAdmin(page) {
  await page.goto(`${GARDEN}/ui/sign-in#code=${await newCode()}`)
  await page.locator('#main').waitFor()
}

/** Signs in with a token, as people do. */
export async function withToken(page, token) {
  await page.goto(`${GARDEN}/ui/`)
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Keeps a picture of a page. */
export async function picture(page, name) {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: joined(SCREENSHOTS, `${name}.png`) })
}

/** Checks that people with all kinds of abilities can use the page. The script is run by the debugger: the page's policy allows none. */
export async function accessible(page, name) {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] })
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`)
  })
  assert.deepEqual(found, [], `${name} is accessible`)
}

/** Turns the dark on, as the operating system does in the evening, and waits until the colors are there. */
export async function dark(page) {
  await page.emulateMedia({ colorScheme: 'dark' })
  const light = 'rgb(27, 31, 29)'
  await page.waitForFunction(
    (color) => [...document.querySelectorAll('h1, button, input')].every((e) => getComputedStyle(e).color !== color),
    light,
  )
}

/** Makes the window as small as a phone, on which nothing may be wider than it. */
export async function phone(page) {
  await page.setViewportSize({ width: 380, height: 740 })
  const [needed, there] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  assert.ok(needed <= there, `on a phone the page is ${needed} px wide on ${there} px`)
}

/** Checks that no text is wider than what it stands in: it would cover what is beside it, or be cut off where nobody can scroll. */
export async function contained(page, name) {
  const found = await page.evaluate(() =>
    [...document.querySelectorAll('#main *')]
      .filter(
        (e) => getComputedStyle(e).overflowX === 'visible' && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1,
      )
      .map((e) => `${e.tagName.toLowerCase()}.${e.className}: ${e.scrollWidth} px on ${e.clientWidth} px`),
  )
  assert.deepEqual(found, [], `${name}: all texts stay in their places`)
}

/** Waits until nothing is loading any more. */
export async function settled(page) {
  await page
    .locator('[aria-busy="true"]')
    .first()
    .waitFor({ state: 'detached' })
    .catch(() => {})
}

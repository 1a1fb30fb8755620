// SPDX-License-Identifier: Apache-2.0
//
// How people get into a cluster, and the rotation of its credentials.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'

import { parse } from 'yaml'

import {
  accessible,
  asAdmin,
  garden,
  gardenlet,
  launch,
  open,
  picture,
  reach,
  read,
  tokenOf,
  withToken,
} from './world.mjs'

const list = `${garden}/ui/projects/garden-meadow/shoots`
const api = '/apis/core.gardener.cloud/v1beta1/namespaces/garden-meadow/shoots/orchid'

let browser
before(async () => {
  browser = await launch()
  await reach('orchid')
})
after(() => browser.close())

/** Downloads a kubeconfig. It returns the name of the file, what is in it, and who it makes its owner, for how many seconds. */
async function downloaded(page, rights, lifetime) {
  await page.getByRole('radio', { name: rights }).check()
  await page.getByLabel('Valid for').selectOption(lifetime)
  const began = Date.now()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download kubeconfig' }).click(),
  ])
  const config = parse(readFileSync(await file.path(), 'utf8'))
  const data = config.users[0].user['client-certificate-data']
  const certificate = new X509Certificate(Buffer.from(data, 'base64'))
  const seconds = (Date.parse(certificate.validTo) - began) / 1000
  await page.getByText(`${file.suggestedFilename()} was downloaded`).waitFor()
  return { name: file.suggestedFilename(), config, subject: certificate.subject, seconds }
}

const about = (seconds, want) => assert.ok(Math.abs(seconds - want) < 120, `valid for ${seconds} s instead of ${want}`)

test('a kubeconfig is named after what it opens, and is valid as long as asked for', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${list}/orchid/access`)
  const viewer = await downloaded(page, 'Viewer', '10 minutes')
  assert.equal(viewer.name, 'kubeconfig--meadow--orchid--viewer.yaml')
  assert.match(viewer.subject, /CN=gardener.cloud:viewer:/)
  about(viewer.seconds, 600)
  assert.equal(viewer.config['current-context'], 'garden-meadow--orchid-external')
  assert.equal(viewer.config.clusters[0].cluster.server, 'https://api.orchid.example.org')
  await accessible(page, 'access')
  await picture(page, 'shoot-access-downloaded')

  const admin = await downloaded(page, 'Administrator', '8 hours')
  assert.equal(admin.name, 'kubeconfig--meadow--orchid.yaml')
  assert.match(admin.subject, /CN=gardener.cloud:admin:/)
  about(admin.seconds, 8 * 3600)
  assert.equal(admin.config['current-context'], 'garden-meadow--orchid-external')
  await page
    .getByText(/gardenctl target --garden \S+ --project meadow --shoot orchid/)
    .first()
    .waitFor()
  assert.deepEqual(problems, [])
  await context.close()
})

test('a viewer of the project gets a kubeconfig of a viewer only', async () => {
  const { context, page } = await open(browser)
  await withToken(page, await tokenOf('viewer'))
  await page.locator('#main').waitFor()
  await page.goto(`${list}/orchid/access`)
  const viewer = await downloaded(page, 'Viewer', '1 hour')
  assert.match(viewer.subject, /CN=gardener.cloud:viewer:system:serviceaccount:garden-meadow:viewer/)
  about(viewer.seconds, 3600)
  await page.getByRole('radio', { name: 'Administrator' }).check()
  await page.getByRole('button', { name: 'Download kubeconfig' }).click()
  await page.getByRole('alert').getByText('Your account has no permission for this').waitFor()
  await accessible(page, 'a kubeconfig that is refused')
  await context.close()
})

test('a cluster that cannot be reached yet gives no kubeconfig, and says why', async () => {
  const { context, page } = await open(browser)
  await asAdmin(page)
  await page.goto(`${list}/tulip/access`)
  await page.getByRole('button', { name: 'Download kubeconfig' }).click()
  await page.getByRole('alert').getByText('the shoot has no address yet').waitFor()
  await context.close()
})

test('credentials are rotated together in two steps', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${list}/orchid/settings`)
  const part = page.getByRole('region', { name: 'Credentials rotation' })
  const kind = (name) => part.getByRole('listitem').filter({ hasText: name })
  const all = part.getByRole('button', { name: /^(Rotate|Complete) all$/ })
  /** Asks for an operation, and has the gardenlet run it once the garden knows of it. */
  const ask = async (button) => {
    const written = page.waitForResponse((r) => r.request().method() === 'PATCH' && r.url().includes('/shoots/orchid'))
    await button.click()
    assert.equal((await written).status(), 200)
    await page.getByText('Rotation requested').first().waitFor()
    await gardenlet('orchid')
  }
  await ask(part.getByRole('button', { name: 'Rotate all' }))
  await kind('Certificate authorities').getByText('Prepared').waitFor()
  await kind('Service account key').getByText('Prepared').waitFor()
  await part.getByRole('button', { name: 'Complete all' }).waitFor()
  assert.equal(await part.getByRole('button', { name: 'Rotate all' }).count(), 0, 'it cannot begin again')
  await accessible(page, 'a rotation that is prepared')
  await picture(page, 'rotation-prepared')

  // One kind is completed alone; then not all can be.
  await ask(kind('Certificate authorities').getByRole('button', { name: 'Complete' }))
  await kind('Certificate authorities').getByText('Completed').waitFor()
  await kind('Certificate authorities').getByText('Last rotated').waitFor()
  assert.equal(await all.count(), 0)
  await ask(kind('Service account key').getByRole('button', { name: 'Complete' }))
  await kind('Service account key').getByText('Completed').waitFor()
  await kind('Encryption key of etcd').getByText('Completed').waitFor()
  await part.getByRole('button', { name: 'Rotate all' }).waitFor()
  const { status } = await read(page, api)
  assert.deepEqual(
    ['certificateAuthorities', 'serviceAccountKey', 'etcdEncryptionKey'].map(
      (k) => status.credentials.rotation[k].phase,
    ),
    ['Completed', 'Completed', 'Completed'],
  )
  assert.deepEqual(problems, [])
  await context.close()
})

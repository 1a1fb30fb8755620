// SPDX-License-Identifier: Apache-2.0
//
// New clusters: like another one, and for a provider of which the form knows nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { accessible, asAdmin, create, garden, launch, open, phone, picture, read } from './world.mjs'

const list = `${garden}/ui/projects/garden-meadow/shoots`
const api = (name) => `/apis/core.gardener.cloud/v1beta1/namespaces/garden-meadow/shoots/${name}`

// A provider that no code of the garden mentions.
const moon = `
apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata: {name: moon}
spec:
  type: moonbase
  kubernetes: {versions: [{version: 1.36.3}]}
  machineImages: [{name: regolith, versions: [{version: 2.1.0, cri: [{name: containerd}]}]}]
  machineTypes: [{name: rover, cpu: "8", gpu: "0", memory: 32Gi}]
  regions: [{name: tranquility, zones: [{name: north}, {name: south}]}]
---
apiVersion: core.gardener.cloud/v1beta1
kind: ControllerRegistration
metadata: {name: moon}
spec:
  resources:
    - {kind: ControlPlane, type: moonbase}
    - {kind: Infrastructure, type: moonbase}
    - {kind: Worker, type: moonbase}
    - {kind: OperatingSystemConfig, type: regolith}
    - {kind: Network, type: calico}
---
apiVersion: v1
kind: Secret
metadata: {name: moon, namespace: garden-meadow}
type: Opaque
---
apiVersion: security.gardener.cloud/v1alpha1
kind: CredentialsBinding
metadata: {name: moon, namespace: garden-meadow}
provider: {type: moonbase}
credentialsRef: {apiVersion: v1, kind: Secret, name: moon, namespace: garden-meadow}
`
const infrastructure = `# The crater was chosen by the geologists.
apiVersion: moonbase.example.org/v1
kind: InfrastructureConfig
domes:
  - name: alpha # the old one
    depth: 12
  - name: beta
    depth: 7
`

let browser
before(async () => {
  browser = await launch()
  await create(moon)
})
after(() => browser.close())

test('a cluster is cloned: what is its own stays behind, and the rest is the same', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${list}/moss`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Clone' }).click()
  await page.waitForURL(/new-shoot\?clone=moss/)
  const name = page.getByLabel('Name').first()
  assert.equal(await name.inputValue(), 'moss-2')
  await name.fill('lichen')
  await name.press('Tab')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('The server accepts it').waitFor()
  await page.getByRole('button', { name: 'Create cluster' }).click()
  await page.waitForURL(/shoots\/lichen/)
  const [old, made] = [await read(page, api('moss')), await read(page, api('lichen'))]
  assert.deepEqual(made.spec.provider.workers, old.spec.provider.workers)
  assert.deepEqual(
    [made.spec.kubernetes.version, made.spec.region, made.spec.purpose, made.spec.credentialsBindingName],
    [old.spec.kubernetes.version, old.spec.region, old.spec.purpose, old.spec.credentialsBindingName],
  )
  assert.notEqual(made.metadata.uid, old.metadata.uid)
  assert.notEqual(made.status?.technicalID, old.status.technicalID)
  assert.deepEqual(problems, [])
  await context.close()
})

test('the form takes a provider it has never heard of to YAML and back without loss', async () => {
  const { context, page, problems } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/projects/garden-meadow/new-shoot`)
  const name = page.getByLabel('Name').first()
  const tab = (label) => page.getByRole('button', { name: label, exact: true })
  const editor = page.getByRole('textbox', { name: 'Manifest of the new cluster' })
  await name.fill('lander')
  await page.getByLabel('Cloud profile').selectOption('moon')
  assert.equal(await name.inputValue(), 'lander', 'the name stays')
  assert.equal(await page.getByLabel('Region').inputValue(), 'tranquility')
  await page.getByLabel('infrastructureConfig').fill(infrastructure)
  await page.getByText('What only the provider understands').click()
  await page.getByLabel('providerConfig').fill('wheels: 6 # one may break\n')
  await page.getByLabel('At most').fill('5')
  await page.getByLabel('At most').press('Tab')
  await picture(page, 'create-unknown-provider')

  await tab('YAML').click()
  const text = () => editor.evaluate((e) => e.innerText)
  for (const line of ['type: moonbase', '# The crater was chosen', 'alpha # the old one', 'wheels: 6 # one may break'])
    assert.ok((await text()).includes(line), `${line} is in\n${await text()}`)
  // Something that the form does not show is added by hand.
  await editor.click()
  await page.keyboard.press('Control+f')
  await page.keyboard.type('type: moonbase')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.keyboard.insertText('controlPlaneConfig: {kind: Orbit, height: 110} # km')
  const written = await text()

  await tab('Form').click()
  assert.equal(await page.getByLabel('infrastructureConfig').inputValue(), infrastructure)
  assert.match(await page.getByLabel('controlPlaneConfig').inputValue(), /height: 110/)
  assert.equal(await page.getByLabel('providerConfig').inputValue(), 'wheels: 6 # one may break\n')
  assert.equal(await page.getByLabel('At most').inputValue(), '5')
  await accessible(page, 'the form of an unknown provider')
  await tab('YAML').click()
  assert.equal(await text(), written, 'to look at the form changes nothing')
  await tab('Form').click()
  await page.getByLabel('infrastructureConfig').fill('domes: [')
  await page.getByLabel('infrastructureConfig').press('Tab')
  await page.getByRole('alert').first().waitFor()
  await page.getByLabel('infrastructureConfig').fill(infrastructure)
  await page.getByLabel('infrastructureConfig').press('Tab')
  await page.getByRole('alert').first().waitFor({ state: 'detached' })
  await phone(page)
  await picture(page, 'create-unknown-provider-phone')
  await page.setViewportSize({ width: 1280, height: 800 })

  await page.getByRole('button', { name: 'Check' }).click()
  const said = page.getByText('The server accepts it').or(page.getByRole('alert')).first()
  await said.waitFor()
  assert.match(await said.textContent(), /The server accepts it/)
  await page.getByRole('button', { name: 'Create cluster' }).click()
  await page.waitForURL(/shoots\/lander/)
  const { spec } = await read(page, api('lander'))
  assert.deepEqual(spec.provider.infrastructureConfig, {
    apiVersion: 'moonbase.example.org/v1',
    kind: 'InfrastructureConfig',
    domes: [
      { name: 'alpha', depth: 12 },
      { name: 'beta', depth: 7 },
    ],
  })
  assert.deepEqual(spec.provider.controlPlaneConfig, { kind: 'Orbit', height: 110 })
  const [worker] = spec.provider.workers
  assert.deepEqual([worker.machine.type, worker.maximum, worker.providerConfig], ['rover', 5, { wheels: 6 }])
  assert.equal(spec.credentialsBindingName, 'moon', 'the credentials of the provider are chosen')
  assert.deepEqual(problems, [])
  await context.close()
})

test('a refusal is seen beside the button, which keeps the focus', async () => {
  const { context, page } = await open(browser)
  await asAdmin(page)
  await page.goto(`${garden}/ui/projects/garden-meadow/new-shoot`)
  await page.getByLabel('Name').first().fill('Bad_Name')
  const order = page.getByRole('button', { name: 'Create cluster' })
  await order.focus()
  await page.keyboard.press('Enter')
  const refusal = page.locator('#main').getByRole('alert').getByText('metadata.name')
  await refusal.waitFor()
  const { y, height } = await refusal.boundingBox()
  assert.ok(y >= 0 && y + height <= 800, `the refusal is seen: at ${y} px of a window of 800 px`)
  assert.equal(await order.evaluate((e) => e === document.activeElement), true, 'the button has the focus')
  await context.close()
})

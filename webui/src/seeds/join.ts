// SPDX-License-Identifier: Apache-2.0

import type { Info } from '@/home/info'
import { create } from '@/kube/client'
import { secrets } from '@/kube/resources'
import type { KubeObject } from '@/kube/types'

import { stateOf } from './state'
import type { Seed } from './types'

/** What a seed owner tells about the seed that is to join. */
export interface JoinPlan {
  name: string
  provider: string
  region: string
  domain: string
  minutes: number
}

/** A token that joins one seed, once. */
export interface JoinToken {
  id: string
  secret: string
  expires: string
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A random text, each letter of which is as likely as any other. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 252 is the largest multiple of 36 in a byte; what lies above would favor some letters.
      if (byte < 252 && text.length < length) text += letters[byte % letters.length]
    }
  }
  return text
}

/** The Secret with which the API server authenticates a token. */
export function tokenSecret(token: JoinToken, seed: string) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'kube-system', name: 'bootstrap-token-' + token.id },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': token.id,
      'token-secret': token.secret,
      'usage-bootstrap-authentication': 'true',
      expiration: token.expires,
      description: `Web UI: seed ${seed}`,
      seed,
    },
  }
}

export async function createToken(plan: JoinPlan): Promise<JoinToken> {
  const token: JoinToken = {
    id: randomText(6),
    secret: randomText(16),
    expires: new Date(Date.now() + plan.minutes * 60_000).toISOString().replace(/\.\d+Z$/, 'Z'),
  }
  await create(secrets, 'kube-system', tokenSecret(token, plan.name))
  return token
}

/** The one command that joins the seed. The hash before :: pins the garden's CA. */
export function joinCommand(plan: JoinPlan, token: JoinToken, info: Info): string {
  const words = [
    'terrarium gardenlet join',
    info.server,
    `--token T10${info.caFingerprint.replace(/^sha256:/, '')}::${token.id}.${token.secret}`,
    '--seed-kubeconfig seed.kubeconfig',
    `--name ${plan.name}`,
  ]
  if (plan.provider) words.push(`--provider ${plan.provider}`)
  if (plan.region) words.push(`--region ${plan.region}`)
  if (plan.domain) words.push(`--internal-domain ${plan.domain}`)
  return words.join(' ')
}

/** A request for a certificate. */
export interface SigningRequest extends KubeObject {
  spec: { username?: string; signerName?: string }
  status?: { certificate?: string; conditions?: { type: string; message?: string }[] }
}

export type StepName = 'token' | 'csr' | 'signed' | 'registered' | 'ready'

/** A step on the way into the garden. */
export interface Step {
  name: StepName
  state: 'done' | 'now' | 'later' | 'failed'
  text?: string
}

/** How far a seed has come. A step that is done proves those before it. */
export function stepsOf(tokenId: string, requests: SigningRequest[], seed: Seed | undefined): Step[] {
  const mine = requests.filter((r) => r.spec.username === `system:bootstrap:${tokenId}`)
  const signed = mine.some((r) => r.status?.certificate)
  const denied = signed
    ? undefined
    : mine.flatMap((r) => r.status?.conditions ?? []).find((c) => c.type === 'Denied' || c.type === 'Failed')
  const reached: Record<StepName, boolean> = {
    token: true,
    csr: mine.length > 0 || seed !== undefined,
    signed: signed || seed !== undefined,
    registered: seed !== undefined,
    ready: seed !== undefined && stateOf(seed) === 'ready',
  }
  const names = Object.keys(reached) as StepName[]
  const next = names.find((name) => !reached[name])
  return names.map((name) => {
    if (reached[name]) return { name, state: 'done' }
    if (name !== next) return { name, state: 'later' }
    if (denied && name === 'signed') return { name, state: 'failed', text: denied.message ?? '' }
    return { name, state: 'now' }
  })
}

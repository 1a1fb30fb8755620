// SPDX-License-Identifier: Apache-2.0

import { afterEach, describe, expect, it, vi } from 'vitest'

import { RequestError } from './errors'
import { guardRequests, send, warnings } from './http'
import { readLines } from './lines'
import { path, seeds, shoots } from './resources'

const answer = (status: number, body: string, headers: Record<string, string> = {}) =>
  new Response(status === 204 ? null : body, { status, headers })

describe('send', () => {
  afterEach(() => vi.unstubAllGlobals())

  function serve(...answers: Response[]) {
    const calls: { url: string; init: RequestInit }[] = []
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
      calls.push({ url, init })
      return Promise.resolve(answers.shift()!)
    })
    return calls
  }
  const watcher = { csrf: () => 'secret', signedOut: vi.fn(), warned: vi.fn() }

  it('sends the CSRF token with writes only', async () => {
    guardRequests(watcher)
    const calls = serve(answer(200, '{}'), answer(204, ''))
    await send('/kube/api')
    await send('/kube/api', { method: 'DELETE' })
    expect(calls.map((c) => (c.init.headers as Record<string, string>)['X-CSRF-Token'])).toEqual([undefined, 'secret'])
  })

  it('turns a Status into an error that says what it means', async () => {
    const status = {
      kind: 'Status',
      code: 422,
      reason: 'Invalid',
      message: 'long',
      details: { causes: [{ field: 'spec.region', message: 'is required' }] },
    }
    serve(answer(422, JSON.stringify(status)))
    const error = await send('/kube/x').catch((e: unknown) => e as RequestError)
    expect(error).toMatchObject({ kind: 'invalid', details: ['spec.region: is required'] })
  })

  it('reports the end of the session', async () => {
    guardRequests(watcher)
    serve(answer(401, '{"reason":"NoSession","message":"sign in"}'))
    await expect(send('/kube/x')).rejects.toMatchObject({ kind: 'signed-out' })
    expect(watcher.signedOut).toHaveBeenCalled()
  })

  it('passes on warnings of writes', async () => {
    guardRequests(watcher)
    serve(answer(200, '{}', { Warning: '299 - "field is \\"old\\"", 299 - "second"' }))
    await send('/kube/x', { method: 'PUT', body: '{}' })
    expect(watcher.warned.mock.calls).toEqual([['field is "old"'], ['second']])
  })

  it('reads no warning where there is none', () => expect(warnings(null)).toEqual([]))
})

describe('readLines', () => {
  it('puts together lines that come in pieces', async () => {
    const encoder = new TextEncoder()
    const pieces = ['{"a":1}\n{"a"', ':2}\n', '{"a":"ä', '"}\n{"never', 'ends']
    const stream = new ReadableStream<Uint8Array>({
      start(c) {
        for (const p of pieces) c.enqueue(encoder.encode(p))
        c.close()
      },
    })
    const batches: unknown[][] = []
    await readLines(stream, (b) => batches.push(b))
    expect(batches).toEqual([[{ a: 1 }], [{ a: 2 }], [{ a: 'ä' }]])
  })
})

describe('path', () => {
  it.each([
    [path(shoots), '/apis/core.gardener.cloud/v1beta1/shoots'],
    [
      path(shoots, 'garden-meadow', 'web', 'status'),
      '/apis/core.gardener.cloud/v1beta1/namespaces/garden-meadow/shoots/web/status',
    ],
    [path(seeds, 'ignored', 'eu-1'), '/apis/core.gardener.cloud/v1beta1/seeds/eu-1'],
    [path(shoots, '../x'), '/apis/core.gardener.cloud/v1beta1/namespaces/..%2Fx/shoots'],
  ])('%s', (got, want) => expect(got).toBe(want))
})

// SPDX-License-Identifier: Apache-2.0

import { afterEach, expect, it, vi } from 'vitest'

import { lazy } from './lazy'

afterEach(() => vi.useRealTimers())

it.each([
  [0, 'loaded', 1],
  [2, 'loaded', 3],
  [3, 'offline', 3],
])('what fails %d times is %s', async (failures, want, calls) => {
  vi.useFakeTimers()
  const load = vi.fn(() =>
    load.mock.calls.length > failures ? Promise.resolve('loaded') : Promise.reject(new Error('offline')),
  )
  const result = lazy(load)().catch((thrown: Error) => thrown.message)
  await vi.runAllTimersAsync()
  expect([await result, load.mock.calls.length]).toEqual([want, calls])
})

// SPDX-License-Identifier: Apache-2.0

import type { Tone } from '@/design/tone'

import type { Outcome } from './types'

export const outcomeTone: Record<Outcome, Tone> = { succeeded: 'off', denied: 'warn', failed: 'bad' }

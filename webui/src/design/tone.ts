// SPDX-License-Identifier: Apache-2.0

/** What a color says. Every tone also has a shape or a word beside it, so that color is never alone. */
export type Tone = 'ok' | 'busy' | 'warn' | 'bad' | 'off' | 'asleep'

// SPDX-License-Identifier: Apache-2.0

/** Reads a stream of JSON documents, one a line, and hands them over in batches as they arrive. */
export async function readLines<T>(body: ReadableStream<Uint8Array>, take: (batch: T[]) => void): Promise<void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      rest += decoder.decode(value, { stream: true })
      const end = rest.lastIndexOf('\n')
      if (end < 0) continue
      const batch: T[] = []
      for (const line of rest.slice(0, end).split('\n')) {
        if (line) batch.push(JSON.parse(line) as T)
      }
      rest = rest.slice(end + 1)
      if (batch.length > 0) take(batch)
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

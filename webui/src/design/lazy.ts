// SPDX-License-Identifier: Apache-2.0

const pause = 1_000
const attempts = 3

/** Loads a part of the program when it is first needed, and again if that has failed: the network may just have changed. */
export function lazy<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    for (let left = attempts - 1; left > 0; left--) {
      try {
        return await load()
      } catch {
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
    }
    return load()
  }
}

// SPDX-License-Identifier: Apache-2.0

// Fails when the JavaScript that a browser loads before the first page is over the budget.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const budget = 350 * 1024
const dist = new URL('../dist/', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', dist), 'utf8'))

const files = new Set()
function add(key) {
  const chunk = manifest[key]
  if (files.has(chunk.file)) return
  files.add(chunk.file)
  for (const next of chunk.imports ?? []) add(next)
}
add('index.html')

let total = 0
for (const file of files) {
  const size = gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length
  total += size
}
console.log(
  `initial JavaScript: ${(total / 1024).toFixed(1)} kB gzip in ${files.size} files, budget ${budget / 1024} kB`,
)
if (total > budget) {
  console.error('initial JavaScript is over the budget')
  process.exit(1)
}

// SPDX-License-Identifier: Apache-2.0
//
// Compresses the files of a build, so that the server does not have to. index.html is left out: it differs from answer to answer.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const smallest = 1024;
const kinds = new Set([".css", ".js", ".json", ".svg", ".txt", ".webmanifest"]);

for (const entry of readdirSync(new URL("dist", import.meta.url), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !kinds.has(extname(entry.name))) continue;
  const path = join(entry.parentPath ?? entry.path, entry.name);
  const content = readFileSync(path);
  if (content.length < smallest) continue;
  writeFileSync(path + ".gz", gzipSync(content, { level: 9 }));
  writeFileSync(path + ".br", brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }));
}

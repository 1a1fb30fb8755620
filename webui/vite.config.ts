// SPDX-License-Identifier: Apache-2.0

import { fileURLToPath } from 'node:url'

import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vitest/config'

// During development Vite serves the pages, and a running garden answers for the API and the session.
const garden = process.env.TERRARIUM_URL ?? 'https://127.0.0.1:6443'

// What three pages or more are made of is one file. Browsers ask for each file, and wait longer for forty small ones than for one of their size.
const common = { name: 'common', minShareCount: 3, test: /[\\/](src|@lucide|reka-ui|@tanstack)[\\/]/ }

export default defineConfig({
  base: '/ui/',
  plugins: [vue()],
  // The server puts a new nonce in each answer of index.html; the code editor's style elements carry it.
  html: { cspNonce: '__CSP_NONCE__' },
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    // light-dark() and nesting are used as they are: the oldest browsers with both.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // The content security policy allows no data: addresses, so that every asset is a file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    rolldownOptions: { output: { codeSplitting: { groups: [common] } } },
  },
  server: {
    proxy: {
      '^/ui/(session|kube|status|info)(/|$)': { target: garden, secure: false, changeOrigin: true },
      '^/ui/projects$': { target: garden, secure: false, changeOrigin: true },
    },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.ts'],
  },
})

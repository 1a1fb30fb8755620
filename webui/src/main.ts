// SPDX-License-Identifier: Apache-2.0

import { createApp } from 'vue'

import '@/design/fonts.css'
import '@/design/tokens.css'
import '@/design/base.css'

import App from './App.vue'
import { router } from './router'

createApp(App).use(router).mount('#app')

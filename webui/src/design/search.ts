// SPDX-License-Identifier: Apache-2.0

import { computed, ref, watch, type Ref } from 'vue'
import { useRoute, useRouter } from 'vue-router'

import type { Sort } from './table'

/** A search text and a sort order that are kept in the address, so that a link shows the same. */
export function useSearch(standard: Sort): { text: Ref<string>; sort: Ref<Sort> } {
  const route = useRoute()
  const router = useRouter()
  const page = route.name
  const text = ref(typeof route.query.q === 'string' ? route.query.q : '')
  const sort = ref<Sort>(readSort(route.query.sort, standard))
  let timer: ReturnType<typeof setTimeout> | undefined

  const query = computed(() => {
    const { q: _q, sort: _s, ...rest } = route.query
    const isStandard = sort.value.by === standard.by && sort.value.desc === standard.desc
    return {
      ...rest,
      ...(text.value ? { q: text.value } : {}),
      ...(isStandard ? {} : { sort: (sort.value.desc ? '-' : '') + sort.value.by }),
    }
  })
  watch([text, sort], () => {
    clearTimeout(timer)
    timer = setTimeout(() => route.name === page && void router.replace({ query: query.value }), 150)
  })
  // A link to the same page with another search, such as from Home.
  watch(
    () => route.query.q,
    (q) => {
      const next = typeof q === 'string' ? q : ''
      if (route.name === page && next !== text.value) text.value = next
    },
  )
  return { text, sort }
}

function readSort(value: unknown, standard: Sort): Sort {
  if (typeof value !== 'string' || value === '') return standard
  return value.startsWith('-') ? { by: value.slice(1), desc: true } : { by: value, desc: false }
}

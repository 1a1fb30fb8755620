// SPDX-License-Identifier: Apache-2.0

/** Texts about all credentials at once, the password of monitoring, and the servers that share keys. */
export const credentials = {
  all: {
    section: 'All credentials',
    name: 'Credentials',
    names: { credentials: 'All authorities and keys', monitoring: 'Password of monitoring' },
    about: {
      credentials: 'Each rotation of this page, and the password of monitoring, at once',
      monitoring: 'People log in to the monitoring of seeds with it',
    },
    title: 'Rotate all credentials?',
    text: 'All rotations of this page are started, and the password of monitoring is changed. Nothing is refused before you complete them, and nothing is started if one of them cannot be.',
    start: 'Start all rotations',
    started: 'All rotations are started',
    completeTitle: 'Complete all rotations?',
    completeText:
      'Everything of the former authorities and keys is refused from then on: kubeconfigs, client certificates and tokens that people have not exchanged, and the sessions of this UI, also yours. The server declines until each of them can be completed.',
    complete: 'Complete all rotations',
    completed: 'The former credentials are being removed',
  },
  monitoring: {
    title: 'Change the password of monitoring?',
    text: 'The Secret in the namespace garden gets a new password, and seeds take it from there. The former one is of no use after that.',
    start: 'Change the password',
    started: 'The password of monitoring is being changed',
  },
  servers: {
    title: 'Servers',
    server: 'Server',
    role: 'State',
    keys: 'Keys',
    generation: 'Generation',
    none: 'It is not known yet which servers there are.',
    leads: 'Leads',
    standsBy: 'Stands by',
    offSince: (when: string) => `Off since ${when}`,
    newest: 'Newest',
    old: 'Old',
    note: (generation: number) =>
      `These servers share the keys of the garden, which have generation ${generation.toLocaleString('en')}. Each rotation makes further ones, which servers that stand by take up by themselves.`,
  },
}

// SPDX-License-Identifier: Apache-2.0

import { autocompletion, completionKeymap, type CompletionSource } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { linter, lintKeymap } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

import { fromText } from './document'

/** How an editor is made. */
export interface EditorOptions {
  parent: HTMLElement
  text: string
  label: string
  readonly: boolean
  completion: CompletionSource
  changed: (text: string) => void
}

/** A code editor for YAML. */
export interface Editor {
  setText(text: string): void
  destroy(): void
}

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '12px', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { background: 'var(--surface)', color: 'var(--text-3)', border: 'none' },
  '.cm-activeLine': { background: 'light-dark(#00000008, #ffffff08)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    background: 'light-dark(#cfe8da, #1f4a35)',
  },
  '.cm-selectionMatch': { background: 'light-dark(#fcf1dc, #2c2210)' },
  '.cm-panels': { background: 'var(--raised)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-textfield, .cm-button': {
    background: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    borderRadius: '4px',
    color: 'var(--text)',
  },
  '.cm-tooltip': {
    background: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow-l)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { background: 'var(--selected)', color: 'var(--text)' },
  '.cm-completionInfo': { maxWidth: '360px', padding: '8px 10px' },
  '.cm-foldPlaceholder': { background: 'var(--off-bg)', border: 'none', color: 'var(--text-2)' },
})

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'light-dark(#14627a, #7cc8e0)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'light-dark(#8a3ea8, #d6a1ec)' },
  { tag: tags.comment, color: 'var(--text-3)', fontStyle: 'italic' },
  { tag: [tags.meta, tags.separator, tags.punctuation], color: 'var(--text-2)' },
])

/** Marks what is not YAML. */
const mistakes = linter((view) =>
  fromText(view.state.doc.toString()).mistakes.map((m) => ({
    from: Math.min(m.from, view.state.doc.length),
    to: Math.min(m.to, view.state.doc.length),
    severity: 'error',
    message: m.message,
  })),
)

export function createEditor(o: EditorOptions): Editor {
  // Style elements that are made at run time need the nonce of the content security policy.
  const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce
  const view = new EditorView({
    parent: o.parent,
    state: EditorState.create({
      doc: o.text,
      extensions: [
        nonce ? EditorView.cspNonce.of(nonce) : [],
        lineNumbers(),
        foldGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        yaml(),
        mistakes,
        autocompletion({ override: [o.completion] }),
        theme,
        syntaxHighlighting(colors),
        EditorView.lineWrapping,
        EditorState.readOnly.of(o.readonly),
        EditorView.contentAttributes.of({ 'aria-label': o.label, tabindex: '0' }),
        keymap.of([
          ...defaultKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...searchKeymap,
          ...completionKeymap,
          ...lintKeymap,
          indentWithTab,
        ]),
        EditorView.updateListener.of((u) => u.docChanged && o.changed(u.state.doc.toString())),
      ],
    }),
  })
  return {
    setText(text: string) {
      if (text === view.state.doc.toString()) return
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
    },
    destroy: () => view.destroy(),
  }
}

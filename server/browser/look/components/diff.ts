import type { PortalLanguage } from '../../language.ts'
import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'
import { componentWords } from './words.ts'

type Part = Html | string

export interface Change {
  label: Part
  /** Values that are gone, or one that another has replaced. */
  removed: readonly Part[]
  added: readonly Part[]
}

/** What a change has removed and added, by field. */
export function diff(changes: readonly Change[], language: PortalLanguage) {
  const w = componentWords[language]
  const spoken = (word: string) => html`<span class="visually-hidden">${word} </span>`
  return html`<dl class="diff">${changes.map(
    ({ label, removed, added }) =>
      html`<div><dt>${label}</dt><dd>${removed.map((part) => html`<del>${spoken(w.before)}${part}</del>`)}${added.map((part) => html`<ins>${spoken(w.now)}${part}</ins>`)}</dd></div>`,
  )}</dl>`
}

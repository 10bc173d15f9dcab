import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'

export const card = (title: Html | string, body: Html) => html`<section class="card"><h2>${title}</h2>
${body}</section>`

/** For content that few readers need; `isOpen` shows it from the start. */
export const foldedCard = (title: Html | string, body: Html, isOpen = false) =>
  html`<details class="card"${isOpen && html` open`}><summary>${title}</summary>
${body}</details>`

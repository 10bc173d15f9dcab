import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'

export interface Tab {
  text: Html | string
  address: string
  current: boolean
}

/** The pages of one subject; the current one says so to screen readers too. */
export const tabs = (label: string, all: readonly Tab[]) => html`<nav class="tabs" aria-label="${label}">
${all.map(({ text, address, current }) => html`<a href="${address}"${current && html` aria-current="page"`}>${text}</a>`)}
</nav>`

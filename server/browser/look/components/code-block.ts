import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'

interface Code {
  /** Names the region, which scrolls by itself and so takes the focus. */
  label: string
  /** As it is shown: `curl`, `JSON`. */
  language?: string
  /** With its line breaks; highlighted by the build, or plain. */
  code: Html | string
}

/** The script adds the button that copies it. The line break after the tag is not part of the text. */
export const codeBlock = ({ label, language, code }: Code) =>
  html`<div class="block">${language && html`<span class="language">${language}</span>`}<pre tabindex="0" role="region" aria-label="${label}" dir="auto">
<code data-copy="${label}">${code}</code></pre></div>`

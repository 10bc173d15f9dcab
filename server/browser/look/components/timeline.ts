import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'
import { icon } from '../icons/icon.ts'
import type { IconName } from '../icons/icon-names.ts'
import type { Tone } from './badge.ts'

export interface Moment {
  icon: IconName
  tone: Tone
  title: Html | string
  /** When, and by whom. */
  hint: Html | string
  body?: Html | null | undefined
}

/** What happened, in the order of time. */
export const timeline = (label: string, moments: readonly Moment[]) =>
  html`<ol class="timeline" aria-label="${label}">
${moments.map(
  (one) => html`<li class="${one.tone}">${icon(one.icon)}<div><p class="title">${one.title}</p>
<p class="hint">${one.hint}</p>
${one.body}</div></li>
`,
)}</ol>`

import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'

interface Progress {
  label: string
  value: number
  max: number
  /** The value in words, beside the bar: `1.2 MB of 10 MB`. */
  text: Html | string
}

/** How much of something is used or done; the last tenth has the colour of a limit. */
export const progress = ({ label, value, max, text }: Progress) =>
  html`<span class="progress${value >= 0.9 * max && ' full'}"><progress aria-label="${label}" value="${value}" max="${max}"></progress> <span>${text}</span></span>`

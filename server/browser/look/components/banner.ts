import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'
import { icon } from '../icons/icon.ts'
import type { IconName } from '../icons/icon-names.ts'
import type { Tone } from './badge.ts'

export const toneIcons: Record<Tone, IconName> = {
  good: 'circle-check',
  pending: 'clock',
  bad: 'circle-x',
  plain: 'info',
}

/** What a page says before its content. With a role, a screen reader reads it by itself: an alert at once. */
export const banner = (
  tone: Tone,
  body: Html | string,
  { role, id }: { role?: 'alert' | 'status'; id?: string } = {},
) =>
  html`<div class="banner ${tone}"${role && html` role="${role}"`}${id && html` id="${id}"`}>${icon(toneIcons[tone])}<div>${body}</div></div>`

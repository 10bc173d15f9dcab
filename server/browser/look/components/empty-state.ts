import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'
import { icon } from '../icons/icon.ts'
import type { IconName } from '../icons/icon-names.ts'

/** In place of an empty list: one sentence, and a link or button that changes it. */
export const emptyState = (name: IconName, sentence: Html | string, action?: Html) =>
  html`<div class="empty">${icon(name)}<p>${sentence}</p>${action}</div>`

import { html } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { portalPage } from './layout.ts'

export const missingPage = (visit: Visit): string =>
  portalPage(
    { ...visit, query: new URLSearchParams() },
    {
      title: visit.w.missing,
      body: html`<p class="lead">${visit.w.missingHint}</p>
<p class="ways"><a href="${visit.at()}">${visit.w.back}</a></p>`,
    },
  )

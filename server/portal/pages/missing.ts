import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import { portalPage } from './layout.ts'

export const missingPage = (request: PageRequest): string =>
  portalPage(
    { ...request, query: new URLSearchParams() },
    {
      title: request.w.missing,
      body: html`<p class="lead">${request.w.missingHint}</p>
<p class="links"><a href="${request.at()}">${request.w.back}</a></p>`,
    },
  )

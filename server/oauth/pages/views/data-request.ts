import type { DataRequest } from '../../../../prisma/generated/client.ts'
import { ANSWER_DAYS } from '../../../../routers/personal-data/requests.ts'
import { html } from '../../../browser/pages/html.ts'
import { fill } from '../../../browser/words/fill.ts'
import { formatDay } from '../../../browser/words/format-day.ts'
import type { Words } from '../../../browser/words/words.ts'

export type OpenDataRequest = Pick<DataRequest, 'requestedAt' | 'deadline'>

/** Where a member asks for a copy of their data, or sees until when it is sent. */
export function dataRequestSection(open: OpenDataRequest | null, action: string, w: Words) {
  const texts = w.dataRequest
  return html`<section class="app">
<h2>${texts.title}</h2>
${
  open
    ? html`<p role="status">${fill(texts.open, { day: formatDay(open.requestedAt, w), deadline: formatDay(open.deadline, w) })}</p>`
    : html`<p class="hint">${fill(texts.hint, { days: ANSWER_DAYS })}</p>
<form method="post" action="${action}"><button>${texts.ask}</button></form>`
}
</section>`
}

import { z } from 'zod'
import { portalMails } from '../../../routers/developer/mails/member-mails.ts'
import { developer } from '../../../routers/developer/procedures.ts'
import { html } from '../../browser/pages/html.ts'
import { mailWords } from '../../mails/message.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { portalPage } from './layout.ts'

/** The mails that are wanted: stored are those that are not. */
export const mailsForm = form('save', developer.mails.set, ['wanted', 'language'], {
  own: { wanted: z.array(z.enum(portalMails)) },
})

type Settings = Awaited<ReturnType<Developer['mails']['get']>>

export function mailsPage(request: PageRequest, { language, off }: Settings, isSending: boolean): string {
  const { w, at } = request
  const { types } = mailWords[request.language]
  const { field } = mailsForm.at(request, {
    language,
    wanted: portalMails.filter((mailType) => !off.includes(mailType)),
  })
  return portalPage(request, {
    title: w.mails,
    body: html`${!isSending && html`<p class="hint">${w.mailsNone}</p>`}
<form class="card" method="post" action="${at('mails')}/save">
${field('wanted', { label: w.mailsLead, options: portalMails.map((mailType) => [mailType, types[mailType]]) })}
${field('language', {
  label: w.mailsLanguage,
  options: [
    ['en', 'English'],
    ['de', 'Deutsch'],
  ],
})}
<button>${w.save}</button>
</form>`,
  })
}

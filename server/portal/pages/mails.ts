import { MailKind } from '../../../prisma/generated/enums.ts'
import { html } from '../../browser/pages/html.ts'
import { mailWords } from '../../mails/message.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { formOf } from './form.ts'
import { portalPage } from './layout.ts'

type Settings = Awaited<ReturnType<Developer['mails']['get']>>

export function mailsPage(visit: Visit, { language, off }: Settings, isSending: boolean): string {
  const { w, at } = visit
  const { kinds } = mailWords[visit.language]
  const choices = Object.values(MailKind).map(
    (
      kind,
    ) => html`<label class="choice"><input type="checkbox" name="kind" value="${kind}"${!off.includes(kind) && html` checked`}>
<span>${kinds[kind]}</span></label>
`,
  )
  return portalPage(visit, {
    title: w.mails,
    body: html`${!isSending && html`<p class="hint">${w.mailsNone}</p>`}
<form class="sheet" method="post" action="${at('mails')}/save">
<fieldset><legend>${w.mailsLead}</legend>
${choices}</fieldset>
${formOf(visit, 'save').choice({ id: 'language', name: 'language', label: w.mailsLanguage, value: language }, [
  ['en', 'English'],
  ['de', 'Deutsch'],
])}
<button>${w.save}</button>
</form>`,
  })
}

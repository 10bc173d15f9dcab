import { developer } from '../../../routers/developer/procedures.ts'
import { banner } from '../../browser/look/components/banner.ts'
import { copyable, fact } from '../../browser/look/components/facts.ts'
import { formatDay } from '../../browser/look/components/time.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'

/** An app's; a team's has the same field. */
export const deletionConfirmation = form('confirm', developer.apps.remove, ['confirm'], {
  errorsAt: { nameNotConfirmed: 'confirm' },
})
export const restoration = form('restore')

type Impact = Awaited<ReturnType<Developer['apps']['impact']>>

interface Deleted {
  /** The address of the app's or team's page. */
  own: string
  name: string
  impact: Impact
}

/** Shows what ends, and asks for the name. */
export function deletionForm(request: PageRequest, { own, name: title, impact }: Deleted) {
  const { w } = request
  const { clients, consents, stores, bytes, subscriptions } = impact
  return html`<p class="lead">${w.deleteLead}</p>
<dl class="facts">${fact(w.clientsTitle, clients)}${fact(w.consents, consents)}${fact(w.storage, stores === 0 ? w.storageNone : w.storedIn(w.bytes(bytes), stores))}${fact(w.subscriptions, subscriptions)}</dl>
<form method="post" action="${own}/delete/confirm">
<p>${w.deleteConfirm(copyable(w.name, title))}</p>
${deletionConfirmation.at(request).field('confirm', { label: w.name })}
<div class="buttons"><button class="danger">${w.delete}</button> <a class="button" href="${own}">${w.cancel}</a></div>
</form>`
}

/** Says when what was deleted is gone, and lets owners restore it. */
export function deletionNotice(
  request: PageRequest,
  { own, endsAt, isOwner }: { own: string; endsAt: number | null; isOwner: boolean },
): Html | null {
  const { w, language } = request
  if (endsAt === null) return null
  return banner(
    'bad',
    html`<p>${w.deletedUntil(formatDay(endsAt, language))}</p>
${isOwner && html`<form method="post" action="${own}/restore"><button>${w.restore}</button></form>`}`,
  )
}

export const deletionQuestion = ({ w }: PageRequest, title: string) => w.deleteQuestion(name(title))

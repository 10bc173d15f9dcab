import type { Html } from '../../browser/pages/html.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { copyable, fact } from './fields.ts'
import { formOf } from './form.ts'
import { dayOf } from './times.ts'

type Holdings = Awaited<ReturnType<Developer['apps']['holdings']>>

interface Deleted {
  /** The address of the app's or team's page. */
  own: string
  name: string
  holdings: Holdings
}

/** Shows what ends, and asks for the name. */
export function deletionForm(visit: Visit, { own, name: title, holdings }: Deleted) {
  const { w } = visit
  const { clients, consents, stores, bytes, subscriptions } = holdings
  return html`<p class="lead">${w.deleteLead}</p>
<dl class="facts">${fact(w.clientsOf, clients)}${fact(w.consents, consents)}${fact(w.storage, stores === 0 ? w.storageNone : w.storedIn(w.bytes(bytes), stores))}${fact(w.subscriptions, subscriptions)}</dl>
<form method="post" action="${own}/delete/confirm">
<p>${w.deleteConfirm(copyable(w.name, title))}</p>
${formOf(visit, 'confirm').field({ id: 'confirm', name: 'confirm', label: w.name, required: true })}
<div class="buttons"><button class="chief">${w.delete}</button> <a class="button" href="${own}">${w.cancel}</a></div>
</form>`
}

/** Says when what was deleted is gone, and lets owners restore it. */
export function deletionNotice(
  visit: Visit,
  { own, endsAt, isOwner }: { own: string; endsAt: number | null; isOwner: boolean },
): Html | null {
  const { w, language } = visit
  if (endsAt === null) return null
  return html`<div class="problem"><p>${w.deletedUntil(dayOf(endsAt, language))}</p>
${isOwner && html`<form method="post" action="${own}/restore"><button>${w.restore}</button></form>`}</div>`
}

export const deletionQuestion = ({ w }: Visit, title: string) => w.deleteQuestion(name(title))

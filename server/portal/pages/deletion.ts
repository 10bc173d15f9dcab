import { developer } from '../../../routers/developer/procedures.ts'
import { banner } from '../../browser/look/components/banner.ts'
import { confirmation } from '../../browser/look/components/confirmation.ts'
import { copyable, factList } from '../../browser/look/components/facts.ts'
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
  return confirmation({
    lead: w.deleteLead,
    facts: factList([
      [w.clientsTitle, clients],
      [w.consents, consents],
      [w.storage, stores === 0 ? w.storageNone : w.storedIn(w.bytes(bytes), stores)],
      [w.subscriptions, subscriptions],
    ]),
    action: `${own}/delete/confirm`,
    fields: html`<p>${w.deleteConfirm(copyable(w.name, title))}</p>
${deletionConfirmation.at(request).field('confirm', { label: w.name })}`,
    button: w.delete,
    cancel: { text: w.cancel, address: own },
  })
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

import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { choice, fact } from './fields.ts'
import { offsetOf, pager } from './pager.ts'
import { table } from './table.ts'
import { badge } from './team.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'
import { momentOf } from './times.ts'

type List = Awaited<ReturnType<Developer['deliveries']['list']>>
type Delivery = List['items'][number]
type Details = Awaited<ReturnType<Developer['deliveries']['get']>>

interface Of {
  team: Team
  app: App
}

const addressOf = ({ at }: Visit, { team, app }: Of) => at('teams', team.id, 'apps', app.id, 'deliveries')

const kinds = { pending: 'plain', delivered: 'good', failed: 'bad' } as const
const stateBadge = ({ w }: Visit, { state }: Delivery) => badge(w.deliveryState[state], kinds[state])

export function deliveriesPage(visit: Visit, { team, app, list }: Of & { list: List }): string {
  const { w, language, query } = visit
  const own = addressOf(visit, { team, app })
  const state = query.get('state') ?? ''
  const rows = list.items.map((delivery) => [
    momentOf(delivery.createdAt, language),
    html`<code>${delivery.type}</code>${delivery.test && html` ${badge(w.testEvent, 'plain')}`}`,
    stateBadge(visit, delivery),
    delivery.attempts,
    delivery.lastStatus ?? delivery.lastError ?? w.none,
    delivery.nextAttemptAt === null ? w.none : momentOf(delivery.nextAttemptAt, language),
    html`<div class="buttons"><a class="button" href="${own}/${encodeURIComponent(delivery.id)}">${w.open}<span class="unseen"> ${delivery.id}</span></a> ${delivery.state !== 'delivered' && retryForm(visit, own, delivery)}</div>`,
  ])
  const columns = [w.created, w.event, w.stateOf, w.attempts, w.answer, w.next, w.actions]
  return appPage(visit, team, app, 'deliveries', {
    title: w.deliveries,
    body: html`<div class="filters">
<form method="get" action="${own}">
${choice({ id: 'state', name: 'state', label: w.stateOf, value: state }, [
  ['', w.allOf],
  ...(['pending', 'delivered', 'failed'] as const).map((one) => [one, w.deliveryState[one]] as const),
])}
<button>${w.show}</button>
</form>
<form method="post" action="${own}/retry-failed">
${choice({ id: 'span', name: 'span', label: w.retrySince, value: 'day' }, Object.entries(w.spans))}
<button>${w.retryAll}</button>
</form>
</div>
${rows.length === 0 ? html`<p>${state === '' ? w.deliveriesNone : w.deliveriesNoneSo}</p>` : table(w.deliveries, columns, rows)}
${pager(visit, { offset: offsetOf(visit), shown: rows.length, more: list.more })}
<p class="hint">${w.utc}</p>`,
  })
}

const retryForm = ({ w }: Visit, own: string, { id }: Delivery) =>
  html`<form class="inline" method="post" action="${own}/${encodeURIComponent(id)}/retry"><button>${w.retry}<span class="unseen"> ${id}</span></button></form>`

export function deliveryPage(visit: Visit, { team, app, delivery }: Of & { delivery: Details }): string {
  const { w, language } = visit
  const own = addressOf(visit, { team, app })
  const moment = (label: string, unix: number | null) => unix !== null && fact(label, momentOf(unix, language))
  return appPage(visit, team, app, undefined, {
    title: w.delivery,
    body: html`<p>${stateBadge(visit, delivery)} ${delivery.test && badge(w.testEvent, 'plain')}</p>
<dl class="facts">
${fact(w.event, html`<code>${delivery.type}</code>`)}
${fact('webhook-id', html`<code>${delivery.id}</code>`)}
${delivery.url !== null && fact(w.sentTo, html`<code>${delivery.url}</code>`)}
${fact(w.attempts, delivery.attempts)}
${moment(w.created, delivery.createdAt)}
${moment(w.lastAttempt, delivery.lastAttemptAt)}
${moment(w.next, delivery.nextAttemptAt)}
${moment(w.finished, delivery.finishedAt)}
</dl>
<div class="buttons"><a class="button" href="${own}/${encodeURIComponent(delivery.id)}">${w.reload}</a> ${delivery.state !== 'delivered' && retryForm(visit, own, delivery)}</div>
<h2>${w.answered}</h2>
${delivery.lastStatus !== null && html`<p>${w.status} <code>${delivery.lastStatus}</code></p>`}
${delivery.lastError !== null && html`<p class="problem" lang="en">${delivery.lastError}</p>`}
${delivery.answer === null ? html`<p class="hint">${w.answerNone}</p>` : html`<p class="hint">${w.answeredHint}</p>${verbatim(w.answered, delivery.answer)}`}
<h2>${w.headersSent}</h2>
<dl class="facts">${Object.entries(delivery.headers).map(([header, value]) =>
      fact(header, value === null ? html`<em>${w.secretHeader}</em>` : html`<code>${value}</code>`),
    )}</dl>
<h2>${w.bodySent}</h2>
${verbatim(w.bodySent, delivery.body)}
<p class="hint">${w.utc}</p>`,
  })
}

/** Scrolls by itself, so it can be focused and has a name. */
const verbatim = (label: string, text: string) =>
  html`<pre tabindex="0" role="region" aria-label="${label}" dir="auto">
${text}</pre>`

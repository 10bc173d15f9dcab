import type { DeliveryFilter } from '../../../routers/developer/webhook/delivery-lists.ts'
import { deliveryStates } from '../../../routers/webhooks/deliveries/retry.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { choice, hidden } from './fields.ts'
import { offsetOf, pager } from './pager.ts'
import { table } from './table.ts'
import { badge } from './team.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'
import { momentOf } from './times.ts'

type List = Awaited<ReturnType<Developer['deliveries']['list']>>
type Delivery = List['items'][number]
type Filters = Awaited<ReturnType<Developer['deliveries']['filters']>>

export interface Of {
  team: Team
  app: App
}

export const addressOf = ({ at }: Visit, { team, app }: Of) => at('teams', team.id, 'apps', app.id, 'deliveries')

const kinds = { pending: 'plain', delivered: 'good', failed: 'bad' } as const
export const stateBadge = ({ w }: Visit, { state }: Delivery) => badge(w.deliveryState[state], kinds[state])

interface ListView extends Of {
  list: List
  filters: Filters
  filter: DeliveryFilter
}

export function deliveriesPage(visit: Visit, { team, app, list, filters, filter }: ListView): string {
  const { w, language } = visit
  const own = addressOf(visit, { team, app })
  const isFiltered = Object.keys(filter).length > 0
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
${filterForm(visit, own, filters, filter)}
${retryFailedForm(visit, own, filter)}
</div>
${rows.length === 0 ? html`<p>${isFiltered ? w.deliveriesNoneSo : w.deliveriesNone}</p>` : table(w.deliveries, columns, rows)}
${pager(visit, { offset: offsetOf(visit), shown: rows.length, more: list.more })}
<p class="hint">${w.utc}</p>`,
  })
}

function filterForm({ w }: Visit, own: string, { types, subscriptions }: Filters, filter: DeliveryFilter) {
  const { state = '', type = '', subscription = '' } = filter
  return html`<form method="get" action="${own}">
${choice({ id: 'state', name: 'state', label: w.stateOf, value: state }, [
  ['', w.allOf],
  ...deliveryStates.map((one) => [one, w.deliveryState[one]] as const),
])}
${choice({ id: 'type', name: 'type', label: w.testType, value: type }, offered(w.allOf, types, type))}
${choice({ id: 'subscription', name: 'subscription', label: w.subscription, value: subscription }, offered(w.allOf, subscriptions, subscription))}
<button>${w.show}</button>
</form>`
}

/** With the one in the address, to which a delivery's page links. */
const offered = (all: string, values: readonly string[], chosen: string) => [
  ['', all] as const,
  ...[...new Set([...values, ...(chosen === '' ? [] : [chosen])])].map((one) => [one, one] as const),
]

/** Retries what matches the filter by type and subscription. */
const retryFailedForm = ({ w }: Visit, own: string, { type, subscription }: DeliveryFilter) =>
  html`<form method="post" action="${own}/retry-failed">
${type !== undefined && hidden('type', type)}${subscription !== undefined && hidden('subscription', subscription)}
${choice({ id: 'span', name: 'span', label: w.retrySince, value: 'day' }, Object.entries(w.spans))}
<button>${type === undefined && subscription === undefined ? w.retryAll : w.retryAllSo}</button>
</form>`

export const retryForm = ({ w }: Visit, own: string, { id }: Delivery) =>
  html`<form class="inline" method="post" action="${own}/${encodeURIComponent(id)}/retry"><button>${w.retry}<span class="unseen"> ${id}</span></button></form>`

import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import type { DeliveryFilter } from '../../../routers/developer/webhook/delivery-lists.ts'
import { deliveryStates } from '../../../routers/webhooks/deliveries/retry.ts'
import { badge } from '../../browser/look/components/badge.ts'
import { emptyState } from '../../browser/look/components/empty-state.ts'
import { select } from '../../browser/look/components/field.ts'
import { table } from '../../browser/look/components/table.ts'
import { timeAgo } from '../../browser/look/components/time.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { pager, readOffset } from './pager.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'

/** How far back failed deliveries are retried, in seconds. */
export const spans = { hour: 3_600, day: 86_400, week: 7 * 86_400, month: 30 * 86_400 } as const

export const retryFailedForm = form(
  'retry-failed',
  developer.deliveries.retryFailed,
  ['type', 'subscription', 'span'],
  {
    own: { span: z.enum(Object.keys(spans) as (keyof typeof spans)[]) },
  },
)
export const retryForm = form('retry')
export const resendForm = form('resend')

type List = Awaited<ReturnType<Developer['deliveries']['list']>>
type Delivery = List['items'][number]
type Filters = Awaited<ReturnType<Developer['deliveries']['filters']>>

export interface TeamApp {
  team: Team
  app: App
}

export const deliveriesPageUrl = ({ at }: PageRequest, { team, app }: TeamApp) =>
  at('teams', team.id, 'apps', app.id, 'deliveries')

const tones = { pending: 'pending', delivered: 'good', failed: 'bad' } as const
export const stateBadge = ({ w }: PageRequest, { state }: Delivery) => badge(w.deliveryState[state], tones[state])

interface ListView extends TeamApp {
  list: List
  filters: Filters
  filter: DeliveryFilter
}

export function deliveriesPage(request: PageRequest, { team, app, list, filters, filter }: ListView): string {
  const { w } = request
  const own = deliveriesPageUrl(request, { team, app })
  const isFiltered = Object.keys(filter).length > 0
  const rows = list.items.map((delivery) => [
    timeAgo(delivery.createdAt, request),
    html`<code>${delivery.type}</code>${delivery.test && html` ${badge(w.testEvent, 'plain')}`}`,
    stateBadge(request, delivery),
    delivery.attempts,
    delivery.lastStatus ?? delivery.lastError ?? w.none,
    delivery.nextAttemptAt === null ? w.none : timeAgo(delivery.nextAttemptAt, request),
    html`<div class="buttons"><a class="button" href="${own}/${encodeURIComponent(delivery.id)}">${w.open}<span class="visually-hidden"> ${delivery.id}</span></a> ${retryButton(request, own, delivery)}</div>`,
  ])
  const columns = [w.created, w.event, w.stateLabel, w.attempts, w.answer, w.next, w.actions]
  return appPage(request, team, app, 'deliveries', {
    title: w.deliveries,
    body: html`<div class="filters">
${filterForm(request, own, filters, filter)}
${retryAllFailed(request, own, filter)}
</div>
${rows.length === 0 ? nothing(request, { own, isFiltered }) : table(w.deliveries, columns, rows)}
${pager(request, { offset: readOffset(request), shown: rows.length, more: list.more })}
<p class="hint">${w.utc}</p>`,
  })
}

/** With a filter, the link shows all of them; without one it leads to where a test event is sent. */
const nothing = ({ w }: PageRequest, { own, isFiltered }: { own: string; isFiltered: boolean }) =>
  isFiltered
    ? emptyState('inbox', w.deliveriesNoneSo, html`<a class="button" href="${own}">${w.deliveriesAll}</a>`)
    : emptyState(
        'send',
        w.deliveriesNone,
        html`<a class="button" href="${own.replace(/deliveries$/, 'webhook')}">${w.sendTest}</a>`,
      )

function filterForm({ w }: PageRequest, own: string, { types, subscriptions }: Filters, filter: DeliveryFilter) {
  const { state = '', type = '', subscription = '' } = filter
  return html`<form method="get" action="${own}">
${select({ id: 'state', name: 'state', label: w.stateLabel, value: state }, [
  ['', w.all],
  ...deliveryStates.map((one) => [one, w.deliveryState[one]] as const),
])}
${select({ id: 'type', name: 'type', label: w.testType, value: type }, offered(w.all, types, type))}
${select({ id: 'subscription', name: 'subscription', label: w.subscription, value: subscription }, offered(w.all, subscriptions, subscription))}
<button>${w.show}</button>
</form>`
}

/** With the one in the address, to which a delivery's page links. */
const offered = (all: string, values: readonly string[], chosen: string) => [
  ['', all] as const,
  ...[...new Set([...values, ...(chosen === '' ? [] : [chosen])])].map((one) => [one, one] as const),
]

/** Retries what matches the filter by type and subscription. */
function retryAllFailed(request: PageRequest, own: string, { type, subscription }: DeliveryFilter) {
  const { w } = request
  const { hidden, field } = retryFailedForm.at(request, { type, subscription, span: 'day' })
  return html`<form method="post" action="${own}/retry-failed">
${type !== undefined && hidden('type')}${subscription !== undefined && hidden('subscription')}
${field('span', { label: w.retrySince, options: Object.entries(w.spans) })}
<button>${type === undefined && subscription === undefined ? w.retryAll : w.retryAllSo}</button>
</form>`
}

/** One that has arrived is sent again. */
export const retryButton = ({ w }: PageRequest, own: string, { id, state }: Delivery) =>
  html`<form class="inline" method="post" action="${own}/${encodeURIComponent(id)}/${state === 'delivered' ? 'resend' : 'retry'}"><button>${state === 'delivered' ? w.resend : w.retry}<span class="visually-hidden"> ${id}</span></button></form>`

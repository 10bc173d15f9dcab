import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import { badge } from '../../browser/look/components/badge.ts'
import { confirmation } from '../../browser/look/components/confirmation.ts'
import { copyable, factList } from '../../browser/look/components/facts.ts'
import { table } from '../../browser/look/components/table.ts'
import { timeAgo } from '../../browser/look/components/time.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import type { TeamApp } from './deliveries.ts'
import { appPage } from './team-page.ts'

const own = { all: z.boolean() }
const settings = ['url', 'secret', 'all', 'types'] as const
export const addForm = form('add', developer.addresses.create, ['environment', ...settings], {
  own,
  errorsAt: { tooManyAddresses: 'environment' },
})
export const changeForm = form('set', developer.addresses.update, ['etag', ...settings], {
  own: { etag: z.string(), ...own },
  errorsAt: { secretNeeded: 'secret' },
})
export const stateForm = form('set-state', developer.addresses.update, ['state'])

type List = Awaited<ReturnType<Developer['addresses']['list']>>
type Address = List['items'][number]

export interface AddressView extends TeamApp {
  types: List['types']
  address: Address
  /** Shown for a new address, and never again. */
  secret?: string
}

export const addressUrl = ({ at, params }: PageRequest, ...more: string[]) =>
  at('teams', params.team!, 'apps', params.app!, 'addresses', ...more)

const page = (request: PageRequest, { team, app }: TeamApp, title: string, body: ReturnType<typeof html>) =>
  appPage(request, team, app, 'webhook', {
    title,
    trail: [
      [request.w.webhook, request.at('teams', team.id, 'apps', app.id, 'webhook')],
      ...(title === request.w.addresses.title ? [] : [[request.w.addresses.title, addressUrl(request)] as const]),
    ],
    body,
  })

export function addressesPage(request: PageRequest, view: TeamApp, { items, types }: List): string {
  const { w } = request
  const columns = [w.address, w.addresses.types, w.stateLabel, w.addresses.last, w.actions]
  const { field } = addForm.at(request, { environment: 'production', all: true })
  const body = html`<p class="lead">${w.addresses.lead}</p>
${items.length > 0 && table(w.addresses.title, columns, items.map(toRow(request)))}
<form class="card" method="post" action="${addressUrl(request)}/add" novalidate>
<h2>${w.addresses.add}</h2>
${field('environment', { label: w.fields.environment!, options: Object.entries(w.environment) })}
${fields(request, field, w.addresses.secretHint, types)}
<button>${w.addresses.add}</button>
</form>`
  return page(request, view, w.addresses.title, body)
}

const toRow = (request: PageRequest) => (address: Address) => [
  html`<code>${address.url ?? request.w.none}</code>`,
  address.types === null ? request.w.all : html`<code>${address.types.join(', ')}</code>`,
  state(request, address),
  last(request, address),
  html`<a class="button" href="${addressUrl(request, address.id)}">${request.w.open}<span class="visually-hidden"> ${address.url}</span></a>`,
]

const tones = { active: 'good', failing: 'bad', paused: 'pending', ended: 'bad' } as const
const state = ({ w }: PageRequest, { state, environment }: Address) =>
  html`${badge(w.addresses.states[state], tones[state])} ${environment === 'sandbox' && badge(w.environment.sandbox, 'pending')}`

const last = (request: PageRequest, { lastDelivery }: Address) =>
  lastDelivery === null
    ? request.w.none
    : html`${timeAgo(lastDelivery.at, request)} <span lang="en">${lastDelivery.error ?? lastDelivery.status}</span>`

type AddField = ReturnType<typeof addForm.at>['field']
type Field = (name: (typeof settings)[number], texts: Parameters<AddField>[1]) => ReturnType<AddField>

const fields = (
  { w }: PageRequest,
  field: Field,
  secretHint: string,
  types: List['types'],
) => html`${field('url', { label: w.address, hint: w.addressHint })}
${field('secret', { label: w.secret, hint: secretHint, isSecret: true })}
${field('all', { label: w.addresses.all })}
${field('types', {
  label: w.addresses.types,
  hint: w.addresses.typesHint,
  options: types.map(({ type, production, sandbox }) => [
    type,
    html`<code>${type}</code> ${w.addresses.sent(w.count(production), w.count(sandbox))}`,
  ]),
})}`

export function addressPage(request: PageRequest, { types, address, secret, ...view }: AddressView): string {
  const { w } = request
  const own = addressUrl(request, address.id)
  const { seen, field } = changeForm.at(request, { ...address, all: address.types === null })
  const isOver = address.state === 'paused' || address.state === 'ended'
  const { hidden } = stateForm.at(request, { state: isOver ? 'active' : 'paused' })
  const body = html`${secret && html`<p class="lead">${w.newSecretLead}</p>`}
${factList([
  [w.address, address.url === null ? w.none : copyable(w.address, address.url)],
  secret !== undefined && [w.secret, copyable(w.secret, secret)],
  [w.stateLabel, state(request, address)],
  [w.addresses.last, last(request, address)],
])}
<div class="buttons">
${!isOver && html`<form class="inline" method="post" action="${own}/test"><button class="primary">${w.sendTest}</button></form>`}
<form class="inline" method="post" action="${own}/set-state">${hidden('state')}<button>${isOver ? w.addresses.resume : w.addresses.pause}</button></form>
<a class="button" href="${request.at('teams', view.team.id, 'apps', view.app.id, 'deliveries')}?subscription=${address.id}">${w.deliveries}</a>
<a class="button" href="${own}/remove">${w.addresses.remove}</a></div>
<p class="hint">${w.addresses.pauseHint}</p>
<form class="card" method="post" action="${own}/set" novalidate data-unsaved>
<h2>${w.change}</h2>
${seen('etag')}
${fields(request, field, w.secretKept, types)}
<button>${w.save}</button>
</form>`
  return page(request, view, w.addresses.one, body)
}

export const addressRemovalPage = (request: PageRequest, { address, ...view }: AddressView) =>
  page(
    request,
    view,
    request.w.addresses.remove,
    confirmation({
      lead: request.w.addresses.removeLead,
      facts: factList([[request.w.address, html`<code>${address.url}</code>`]]),
      action: `${addressUrl(request, address.id)}/remove/confirm`,
      button: request.w.addresses.remove,
      cancel: { text: request.w.cancel, address: addressUrl(request, address.id) },
    }),
  )

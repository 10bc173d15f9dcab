import { DEFAULT_LIFE, LIVES } from '../../../routers/developer/secrets/procedures.ts'
import { html } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { copyable, fact, hidden } from './fields.ts'
import { formOf } from './form.ts'
import { table } from './table.ts'
import { badge } from './team.ts'
import type { Client, ClientOf } from './team-page.ts'
import { clientPage } from './team-page.ts'
import { dayOf, momentOf } from './times.ts'

type Secret = Client['secrets'][number]

const ownOf = ({ at }: Visit, { team, client }: ClientOf) => at('teams', team.id, 'clients', client.id)

/** How a web client authenticates, and its secrets. `now` is in Unix milliseconds. */
export const clientAuthentication = (visit: Visit, view: ClientOf, now: number) => html`${methodForm(visit, view)}
${secretList(visit, view, now)}`

function methodForm(visit: Visit, view: ClientOf) {
  const { w } = visit
  const { client } = view
  const form = formOf(visit, 'authentication')
  const methods = (['none', 'client_secret', 'private_key_jwt'] as const).filter(
    (method) => method !== 'none' || client.environment === 'sandbox' || client.authentication === 'none',
  )
  return html`<form class="sheet" method="post" action="${ownOf(visit, view)}/authentication">
<h2>${w.authentication}</h2>
${hidden('version', client.version)}
${form.choice(
  {
    id: 'authentication',
    name: 'authentication',
    label: w.authenticationMethod,
    value: client.authentication,
    hint: client.environment === 'sandbox' ? w.authenticationHint : w.authenticationStays,
  },
  methods.map((method) => [method, w.authenticationMethods[method]]),
)}
${form.area(
  {
    id: 'keys',
    name: 'keys',
    label: w.publicKeys,
    hint: w.publicKeysHint,
    value: client.keys ? JSON.stringify({ keys: client.keys }, null, 2) : '',
  },
  4,
)}
<button>${w.save}</button>
</form>`
}

function secretList(visit: Visit, view: ClientOf, now: number) {
  const { w } = visit
  const { secrets, authentication } = view.client
  const rows = secrets.map((secret) => rowOf(visit, view, secret, now))
  const columns = [w.created, w.secretLastUsed, w.secretExpires, w.actions]
  return html`<section class="sheet"><h2>${w.secrets}</h2>
<p class="hint">${w.secretsHint}</p>
${secrets.length > 0 && authentication !== 'client_secret' && html`<p class="hint">${w.secretsUnused}</p>`}
${rows.length > 0 && table(w.secrets, columns, rows)}
<form method="post" action="${ownOf(visit, view)}/create-secret">
${formOf(visit, 'create-secret').choice(
  { id: 'days', name: 'days', label: w.secretLife, value: String(DEFAULT_LIFE) },
  LIVES.map((days) => [String(days), w.secretDays(days)]),
)}
<button>${w.createSecret}</button>
</form></section>`
}

const isValid = ({ expiresAt }: Secret, now: number) => expiresAt * 1000 > now

const rowOf = (visit: Visit, view: ClientOf, secret: Secret, now: number) => {
  const { id, createdAt, expiresAt, lastUsedAt } = secret
  const { w, language } = visit
  return [
    dayOf(createdAt, language),
    lastUsedAt === null ? w.secretNeverUsed : momentOf(lastUsedAt, language),
    html`${dayOf(expiresAt, language)} ${!isValid(secret, now) && badge(w.secretExpired, 'bad')}`,
    html`<div class="buttons"><a class="button" href="${ownOf(visit, view)}/secrets/${id}/remove">${w.removeClientSecret}</a></div>`,
  ]
}

/** The only page that shows the secret. */
export const newSecretPage = (visit: Visit, view: ClientOf, secret: string): string =>
  clientPage(visit, view, {
    title: visit.w.newSecret,
    within: true,
    body: html`<p class="lead">${visit.w.newSecretLead}</p>
<dl class="facts">${fact(visit.w.clientId, copyable(visit.w.clientId, view.client.id))}${fact(visit.w.secret, copyable(visit.w.secret, secret))}</dl>
<p><a class="button" href="${ownOf(visit, view)}">${visit.w.newSecretStored}</a></p>`,
  })

export function secretRemovalPage(
  visit: Visit,
  view: ClientOf,
  { secret, now }: { secret: Secret; now: number },
): string {
  const { id, createdAt, expiresAt, lastUsedAt } = secret
  const { w, language } = visit
  const own = ownOf(visit, view)
  const { authentication, secrets } = view.client
  const isLast = authentication === 'client_secret' && !secrets.some((other) => other.id !== id && isValid(other, now))
  return clientPage(visit, view, {
    title: w.removeClientSecret,
    within: true,
    body: html`<p class="lead">${w.removeClientSecretLead}</p>
${isLast && html`<p class="problem">${w.removeClientSecretLast}</p>`}
<dl class="facts">
${fact(w.created, dayOf(createdAt, language))}
${fact(w.secretLastUsed, lastUsedAt === null ? w.secretNeverUsed : momentOf(lastUsedAt, language))}
${fact(w.secretExpires, dayOf(expiresAt, language))}
</dl>
<form method="post" action="${own}/secrets/${id}/remove/confirm">
<div class="buttons"><button class="chief">${w.removeClientSecret}</button> <a class="button" href="${own}">${w.cancel}</a></div>
</form>`,
  })
}

import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import { DEFAULT_LIFE, LIVES } from '../../../routers/developer/secrets/procedures.ts'
import { badge } from '../../browser/look/components/badge.ts'
import { banner } from '../../browser/look/components/banner.ts'
import { confirmation } from '../../browser/look/components/confirmation.ts'
import { copyable, fact, factList } from '../../browser/look/components/facts.ts'
import { table } from '../../browser/look/components/table.ts'
import { formatDay, formatMoment } from '../../browser/look/components/time.ts'
import { html } from '../../browser/pages/html.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import type { Client, TeamClient } from './team-page.ts'
import { clientPage } from './team-page.ts'

type Secret = Client['secrets'][number]

export const authenticationForm = form(
  'authentication',
  developer.clients.setAuthentication,
  ['version', 'authentication', 'keys'],
  {
    errorsAt: {
      clientNotWeb: 'authentication',
      secretMissing: 'authentication',
      staysConfidential: 'authentication',
    },
  },
)
export const secretRemovalForm = form('confirm')
export const secretForm = form('create-secret', developer.clients.secrets.create, ['days', 'use'], {
  own: { days: z.literal(LIVES) },
})

const credentialsUrl = ({ at }: PageRequest, { team, client }: TeamClient) =>
  at('teams', team.id, 'clients', client.id, 'credentials')

/** How a web client authenticates, and its secrets. `now` is in Unix milliseconds. */
export const clientAuthentication = (
  request: PageRequest,
  view: TeamClient,
  now: number,
) => html`${methodForm(request, view)}
${secretList(request, view, now)}`

function methodForm(request: PageRequest, view: TeamClient) {
  const { w } = request
  const { client } = view
  const keys = client.keys ? JSON.stringify({ keys: client.keys }, null, 2) : ''
  const { seen, field } = authenticationForm.at(request, { ...client, keys })
  const methods = (['none', 'client_secret', 'private_key_jwt'] as const).filter(
    (method) => method !== 'none' || client.environment === 'sandbox' || client.authentication === 'none',
  )
  return html`<form class="card" method="post" action="${credentialsUrl(request, view)}/authentication" data-unsaved>
<h2>${w.authentication}</h2>
${seen('version')}
${field('authentication', {
  label: w.authenticationMethod,
  hint: client.environment === 'sandbox' ? w.authenticationHint : w.authenticationStays,
  options: methods.map((method) => [method, w.authenticationMethods[method]]),
})}
${field('keys', { label: w.publicKeys, hint: w.publicKeysHint, rows: 4 })}
<button>${w.save}</button>
</form>`
}

function secretList(request: PageRequest, view: TeamClient, now: number) {
  const { w } = request
  const { secrets, authentication } = view.client
  const rows = secrets.map((secret) => renderRow(request, view, secret, now))
  const { field } = secretForm.at(request, { days: DEFAULT_LIFE, use: true })
  const columns = [w.created, w.secretLastUsed, w.secretExpires, w.actions]
  return html`<section class="card"><h2>${w.secrets}</h2>
<p class="hint">${w.secretsHint}</p>
${(secrets.length > 0 || authentication === 'private_key_jwt') && authentication !== 'client_secret' && html`<p class="hint">${w.secretsUnused}</p>`}
${rows.length > 0 && table(w.secrets, columns, rows)}
<form method="post" action="${credentialsUrl(request, view)}/create-secret">
${field('days', { label: w.secretLife, options: LIVES.map((days) => [String(days), w.secretDays(days)]) })}
${authentication === 'none' && field('use', { label: w.useSecret, hint: w.useSecretHint })}
<button>${w.createSecret}</button>
</form></section>`
}

const isValid = ({ expiresAt }: Secret, now: number) => expiresAt * 1000 > now

const renderRow = (request: PageRequest, view: TeamClient, secret: Secret, now: number) => {
  const { id, createdAt, expiresAt, lastUsedAt } = secret
  const { w, language } = request
  return [
    formatDay(createdAt, language),
    lastUsedAt === null ? w.secretNeverUsed : formatMoment(lastUsedAt, language),
    html`${formatDay(expiresAt, language)} ${!isValid(secret, now) && badge(w.secretExpired, 'bad')}`,
    html`<div class="buttons"><a class="button" href="${credentialsUrl(request, view)}/secrets/${id}/remove">${w.removeClientSecret}</a></div>`,
  ]
}

/** The only page that shows the secret. */
export const newSecretPage = (
  request: PageRequest,
  view: TeamClient,
  { secret, used }: { secret: string; used: boolean },
): string =>
  clientPage(request, view, undefined, {
    title: request.w.newSecret,
    body: html`<p class="lead">${request.w.newSecretLead}</p>
${!used && banner('pending', request.w.newSecretUnused)}
<dl class="facts">${fact(request.w.clientId, copyable(request.w.clientId, view.client.id))}${fact(request.w.secret, copyable(request.w.secret, secret))}</dl>
<p><a class="button" href="${credentialsUrl(request, view)}">${request.w.newSecretStored}</a></p>`,
  })

export function secretRemovalPage(
  request: PageRequest,
  view: TeamClient,
  { secret, now }: { secret: Secret; now: number },
): string {
  const { id, createdAt, expiresAt, lastUsedAt } = secret
  const { w, language } = request
  const own = credentialsUrl(request, view)
  const { authentication, secrets } = view.client
  const isLast = authentication === 'client_secret' && !secrets.some((other) => other.id !== id && isValid(other, now))
  return clientPage(request, view, undefined, {
    title: w.removeClientSecret,
    body: confirmation({
      lead: w.removeClientSecretLead,
      facts: html`${isLast && banner('bad', w.removeClientSecretLast)}${factList([
        [w.created, formatDay(createdAt, language)],
        [w.secretLastUsed, lastUsedAt === null ? w.secretNeverUsed : formatMoment(lastUsedAt, language)],
        [w.secretExpires, formatDay(expiresAt, language)],
      ])}`,
      action: `${own}/secrets/${id}/remove/confirm`,
      button: w.removeClientSecret,
      cancel: { text: w.cancel, address: own },
    }),
  })
}

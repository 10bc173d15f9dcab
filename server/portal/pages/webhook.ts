import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { copyable, fact, hidden } from './fields.ts'
import { formOf } from './form.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'
import { momentOf } from './times.ts'

type Kinds = Awaited<ReturnType<Developer['webhook']['kinds']>>['items']

type Webhook = Awaited<ReturnType<Developer['webhook']['get']>>

export interface WebhookView {
  team: Team
  app: App
  webhook: Webhook | null
  kinds: Kinds
  /** A generated secret, not yet shown to anyone. */
  fresh: string
}

export function webhookPage(visit: Visit, { team, app, webhook, kinds, fresh }: WebhookView): string {
  const { w, at } = visit
  const own = at('teams', team.id, 'apps', app.id, 'webhook')
  const form = formOf(visit, 'set')
  const facts = (url: string, webhook: Webhook) => html`<dl class="facts">
${fact(w.address, copyable(w.address, url))}
${fact(w.secret, webhook.hasSecret ? w.secretStored : w.secretNone)}
${webhook.hasSecret && secretTimes(visit, webhook)}
</dl>
<form method="post" action="${own}/test">
${kinds.length > 1 && typeChoice(visit, kinds)}
<div class="buttons"><button class="chief">${w.sendTest}</button> <a class="button" href="${own}/remove">${w.removeWebhook}</a></div>
</form>
<p class="hint">${w.sendTestHint}</p>`
  return appPage(visit, team, app, 'webhook', {
    title: w.webhook,
    body: webhook
      ? html`<p class="lead">${w.webhookLead}</p>
${webhook.url === null ? html`<p>${w.webhookNone}</p>` : facts(webhook.url, webhook)}
${webhook.formerSecretUntil !== null && formerSecret(visit, own, webhook.formerSecretUntil)}
<form class="sheet" method="post" action="${own}/set" novalidate>
<h2>${webhook.url === null ? w.webhookSet : w.change}</h2>
${form.field({ id: 'url', name: 'url', label: w.address, hint: w.addressHint, type: 'url', value: webhook.url ?? '', required: true, maxlength: 2048 })}
${form.secret({ id: 'secret', name: 'secret', label: w.secret, hint: webhook.hasSecret ? w.secretKept : w.secretHint, maxlength: 1024 })}
${webhook.hasSecret && html`<label class="choice"><input type="checkbox" name="remove-secret" value="yes"${form.typed?.has('remove-secret') && html` checked`}><span>${w.removeSecret}</span></label>`}
<p class="hint">${w.secretFresh} ${copyable(w.secret, fresh)}</p>
<button>${w.save}</button>
</form>
${catalogue(visit, kinds)}`
      : html`<p>${w.webhookLevel}</p>`,
  })
}

const secretTimes = ({ w, language }: Visit, { secretSetAt, secretUsedAt }: Webhook) =>
  secretSetAt === null
    ? fact(w.secretSet, w.notRecorded)
    : html`${fact(w.secretSet, momentOf(secretSetAt, language))}
${fact(w.secretUsed, secretUsedAt === null ? w.secretUnused : momentOf(secretUsedAt, language))}`

/** Also without a webhook: subscriptions have copies. */
const formerSecret = ({ w, language }: Visit, own: string, until: number) =>
  html`<form class="sheet" method="post" action="${own}/end-former-secret">
<h2>${w.formerSecret}</h2>
<p>${w.formerSecretUntil} ${momentOf(until, language)}</p>
<p class="hint">${w.formerSecretHint}</p>
<button>${w.endFormerSecret}</button>
</form>`

const typeChoice = (visit: Visit, kinds: Kinds) =>
  formOf(visit, 'test').choice(
    { id: 'test-type', name: 'type', label: visit.w.testType, hint: visit.w.testTypeHint, value: kinds[0]!.type },
    kinds.map(({ type }) => [type, type] as const),
  )

const catalogue = ({ w }: Visit, kinds: Kinds) => html`<h2>${w.kinds}</h2>
<p class="hint">${w.kindsHint}</p>
${kinds.map(
  ({ type, description, example }) => html`<details class="sheet"><summary><code>${type}</code></summary>
${Object.hasOwn(w.eventTypes, type) ? html`<p>${w.eventTypes[type]}</p>` : html`<p lang="en">${description}</p>`}
<pre>${JSON.stringify(example, null, 2)}</pre></details>`,
)}`

export function webhookRemovalPage(visit: Visit, { team, app, url }: { team: Team; app: App; url: string }): string {
  const { w, at } = visit
  const own = at('teams', team.id, 'apps', app.id, 'webhook')
  return appPage(visit, team, app, 'webhook', {
    title: w.removeWebhook,
    heading: html`${w.removeWebhookQuestion}`,
    body: html`<p class="lead">${w.removeWebhookLead}</p>
<dl class="facts">${fact(w.address, html`<code>${url}</code>`)}</dl>
<form method="post" action="${own}/remove/confirm">${hidden('confirm', url)}
<div class="buttons"><button class="chief">${w.removeWebhook}</button> <a class="button" href="${own}">${w.cancel}</a></div>
</form>`,
  })
}

export const withoutWebhooks = (visit: Visit, team: Team, app: App) =>
  webhookPage(visit, { team, app, webhook: null, kinds: [], fresh: '' })

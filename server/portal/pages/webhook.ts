import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import { germanDescriptions } from '../../../routers/webhooks/event-types.ts'
import { codeBlock } from '../../browser/look/components/code-block.ts'
import { confirmation } from '../../browser/look/components/confirmation.ts'
import { copyable, fact, factList } from '../../browser/look/components/facts.ts'
import { formatMoment } from '../../browser/look/components/time.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'

export const webhookForm = form('set', developer.webhook.set, ['etag', 'url', 'secret', 'removesSecret'], {
  own: { etag: z.string(), removesSecret: z.boolean() },
  errorsAt: { secretNeeded: 'secret' },
})
export const formerSecretForm = form('end-former-secret')
export const testForm = form('test', developer.webhook.test, ['type'], { errorsAt: { eventTypeUnknown: 'type' } })
/** The address as the question named it. */
export const webhookRemovalForm = form('confirm', developer.webhook.remove, ['url'], { own: { url: z.string() } })

type EventTypes = Awaited<ReturnType<Developer['webhook']['kinds']>>['items']

type Webhook = Awaited<ReturnType<Developer['webhook']['get']>>

export interface WebhookView {
  team: Team
  app: App
  webhook: Webhook | null
  eventTypes: EventTypes
  /** A generated secret, not yet shown to anyone. */
  fresh: string
}

export function webhookPage(request: PageRequest, { team, app, webhook, eventTypes, fresh }: WebhookView): string {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id, 'webhook')
  const { seen, field } = webhookForm.at(request, { etag: webhook?.etag, url: webhook?.url })
  const facts = (url: string, webhook: Webhook) => html`<dl class="facts">
${fact(w.address, copyable(w.address, url))}
${fact(w.secret, webhook.hasSecret ? w.secretStored : w.secretNone)}
${webhook.hasSecret && secretTimes(request, webhook)}
</dl>
<form method="post" action="${own}/test">
${eventTypes.length > 1 && typeChoice(request, eventTypes)}
<div class="buttons"><button class="primary">${w.sendTest}</button> <a class="button" href="${own}/remove">${w.removeWebhook}</a></div>
</form>
<p class="hint">${w.sendTestHint}</p>`
  return appPage(request, team, app, 'webhook', {
    title: w.webhook,
    body: webhook
      ? html`<p class="lead">${w.webhookLead}</p>
${webhook.url === null ? html`<p>${w.webhookNone}</p>` : facts(webhook.url, webhook)}
${webhook.formerSecretUntil !== null && formerSecret(request, own, webhook.formerSecretUntil)}
<form class="card" method="post" action="${own}/set" novalidate>
<h2>${webhook.url === null ? w.webhookSet : w.change}</h2>
${seen('etag')}
${field('url', { label: w.address, hint: w.addressHint })}
${field('secret', { label: w.secret, hint: webhook.hasSecret ? w.secretKept : w.secretHint, isSecret: true })}
${webhook.hasSecret && field('removesSecret', { label: w.removeSecret })}
<p class="hint">${w.secretFresh} ${copyable(w.secret, fresh)}</p>
<button>${w.save}</button>
</form>
<p><a href="${at('teams', team.id, 'apps', app.id, 'addresses')}">${w.addresses.open}</a></p>
${catalogue(request, eventTypes)}`
      : html`<p>${w.webhookLevel}</p>`,
  })
}

const secretTimes = ({ w, language }: PageRequest, { secretSetAt, secretUsedAt }: Webhook) =>
  secretSetAt === null
    ? fact(w.secretSet, w.notRecorded)
    : html`${fact(w.secretSet, formatMoment(secretSetAt, language))}
${fact(w.secretUsed, secretUsedAt === null ? w.secretUnused : formatMoment(secretUsedAt, language))}`

/** Also without a webhook: subscriptions have copies. */
const formerSecret = ({ w, language }: PageRequest, own: string, until: number) =>
  html`<form class="card" method="post" action="${own}/end-former-secret">
<h2>${w.formerSecret}</h2>
<p>${w.formerSecretUntil} ${formatMoment(until, language)}</p>
<p class="hint">${w.formerSecretHint}</p>
<button>${w.endFormerSecret}</button>
</form>`

const typeChoice = (request: PageRequest, eventTypes: EventTypes) =>
  testForm.at(request, { type: eventTypes[0]!.type }).field('type', {
    label: request.w.testType,
    hint: request.w.testTypeHint,
    options: eventTypes.map(({ type }) => [type, type]),
  })

const descriptionIn = (language: PageRequest['language'], type: string) => {
  const german = language === 'de' && germanDescriptions.get(type)
  return german ? html`<p>${german}</p>` : undefined
}

const catalogue = ({ w, language }: PageRequest, eventTypes: EventTypes) => html`<h2>${w.typesTitle}</h2>
<p class="hint">${w.kindsHint}</p>
${eventTypes.map(
  ({ type, description, example }) => html`<details class="card"><summary><code>${type}</code></summary>
${descriptionIn(language, type) ?? html`<p lang="en">${description}</p>`}
${codeBlock({ label: type, language: 'JSON', code: JSON.stringify(example, null, 2) })}</details>`,
)}`

export function webhookRemovalPage(
  request: PageRequest,
  { team, app, url }: { team: Team; app: App; url: string },
): string {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id, 'webhook')
  return appPage(request, team, app, 'webhook', {
    title: w.removeWebhook,
    heading: html`${w.removeWebhookQuestion}`,
    body: confirmation({
      lead: w.removeWebhookLead,
      facts: factList([[w.address, html`<code>${url}</code>`]]),
      action: `${own}/remove/confirm`,
      fields: webhookRemovalForm.at(request, { url }).hidden('url'),
      button: w.removeWebhook,
      cancel: { text: w.cancel, address: own },
    }),
  })
}

export const withoutWebhooks = (request: PageRequest, team: Team, app: App) =>
  webhookPage(request, { team, app, webhook: null, eventTypes: [], fresh: '' })

import { createHash } from 'node:crypto'
import { procedures } from '../../../routers/index.ts'
import { findSection } from '../../../routers/kernel/meta.ts'
import { readDefinition } from '../../../routers/kernel/trpc-internals.ts'
import { codeBlock } from '../../browser/look/components/code-block.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { Addresses } from '../addresses.ts'
import type { PageRequest } from '../page-request.ts'
import type { Health } from './health.ts'
import { quoteForShell } from './quote-for-shell.ts'
import type { App, Team } from './team-page.ts'

export interface FirstSteps {
  team: Team
  app: App
  health: Health
  addresses: Pick<Addresses, 'issuer' | 'bases'>
  /** A code verifier (RFC 7636), not yet shown to anyone. */
  verifier: string
}

interface Step {
  isDone: boolean
  text: string
  /** Shown while it is the next step. */
  body: Html
}

/** From the first client to production; null when all is done. */
export function firstSteps(request: PageRequest, view: FirstSteps): Html | null {
  const { w, at } = request
  const { team, app, health } = view
  const { client, hasClient, hasCalled, hasProduction } = health.steps
  const own = at('teams', team.id, 'apps', app.id)
  const button = (address: string, text: string) => html`<p><a class="button primary" href="${address}">${text}</a></p>`
  const steps: Step[] = [
    { isDone: hasClient, text: w.steps.client, body: button(`${own}/clients`, w.steps.client) },
    {
      isDone: hasCalled,
      text: w.steps.call,
      body: client ? firstCall(request, client, view) : html`<p class="hint">${w.steps.callWithout}</p>`,
    },
    ...(health.webhook
      ? [{ isDone: health.webhook.url !== null, text: w.webhookSet, body: button(`${own}/webhook`, w.webhookSet) }]
      : []),
    {
      isDone: hasProduction,
      text: w.production,
      body:
        team.role !== 'owner'
          ? html`<p class="hint">${w.productionOwner}</p>`
          : client
            ? button(at('teams', team.id, 'clients', client.id, 'production'), w.production)
            : button(`${own}/clients`, w.steps.client),
    },
  ]
  const next = steps.find(({ isDone }) => !isDone)
  if (!next) return null
  return html`<section class="next"><h2>${w.steps.title}</h2>
<ol>${steps.map(
    (
      step,
    ) => html`<li${step.isDone && html` class="done-step"`}>${step.text}${step.isDone && html`<span class="visually-hidden"> (${w.steps.done})</span>`}${step === next && step.body}</li>
`,
  )}</ol></section>`
}

/** GETs without parameters in their paths, the member's profile first. */
const calls = Object.values(procedures).flatMap((procedure) => {
  const meta = readDefinition(procedure).meta
  const { openapi, scope } = meta
  if (openapi?.method !== 'GET' || openapi.path.includes('{') || scope === null) return []
  return [{ scope: scope as string, path: openapi.path, section: findSection(meta) }]
})

type FirstClient = NonNullable<Health['steps']['client']>

function firstCall({ w, at }: PageRequest, client: FirstClient, { team, addresses, verifier }: FirstSteps): Html {
  const { issuer, bases } = addresses
  const { id, authentication, scopes } = client
  const [redirectUri] = client.redirectUris
  const page = at('teams', team.id, 'clients', id)
  const call = calls.find(({ scope }) => scopes.includes(scope))
  const reference = html`<p class="hint">${w.steps.reference} <a href="${page}">${w.steps.openClient}</a></p>`
  if (!call || redirectUri === undefined || authentication !== 'none') return reference
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const command = `TOKEN=$(curl -s ${issuer}/token -d grant_type=authorization_code -d client_id=${id} \\
  --data-urlencode ${quoteForShell(`redirect_uri=${redirectUri}`)} -d code_verifier=${verifier} \\
  -d code=CODE | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -H "Authorization: Bearer $TOKEN" ${bases[call.section]}${call.path}`
  return html`<p><a class="button primary" href="${issuer}/authorize?${String(asked)}" target="_blank" rel="noopener">${w.steps.signIn}</a></p>
<p class="hint">${w.steps.signInHint}</p>
${codeBlock({ label: w.steps.command, language: 'sh', code: command })}
${reference}`
}

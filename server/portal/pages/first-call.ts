import { codeBlock } from '../../browser/look/components/code-block.ts'
import { html } from '../../browser/pages/html.ts'
import type { Addresses } from '../addresses.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import type { Client, TeamClient } from './team-page.ts'
import { clientPage } from './team-page.ts'

export const prepareForm = form('prepare')

/** Where Vite serves the page that `member-apps-sdk init` writes, and what that page asks for. */
const PAGE = 'http://localhost:5173/'
const SCOPES = ['svc.me.profile:read', 'svc.me.groups:read', 'svc.apps.storage:read', 'svc.apps.storage:write']

/** What the client lacks for it. */
export const missingFor = ({ redirectUris, scopes }: Pick<Client, 'redirectUris' | 'scopes'>) => ({
  redirectUris: [PAGE].filter((address) => !redirectUris.includes(address)),
  scopes: SCOPES.filter((scope) => !scopes.includes(scope)),
})

export function firstCallPage(request: PageRequest, view: TeamClient, addresses: Addresses): string {
  const { w } = request
  const { client } = view
  return clientPage(request, view, undefined, {
    title: w.firstCall.title,
    body:
      client.type === 'web'
        ? pageSteps(request, view, addresses)
        : html`<p>${w.firstCall.native}</p>
${command(w.firstCall.install, [install(addresses)])}
<p class="links"><a href="/docs/sdk">${w.firstCall.docs}</a></p>`,
  })
}

function pageSteps(request: PageRequest, { team, client }: TeamClient, addresses: Addresses) {
  const { w, at } = request
  const { redirectUris, scopes } = missingFor(client)
  const missing = [...redirectUris, ...scopes]
  const prepare = at('teams', team.id, 'clients', client.id, 'start', 'prepare')
  return html`<p class="lead">${w.firstCall.lead}</p>
${
  missing.length > 0 &&
  html`<form class="card" method="post" action="${prepare}"><p>${w.firstCall.missing}</p>
<ul>${missing.map((text) => html`<li><code>${text}</code></li>`)}</ul>
${client.environment === 'sandbox' ? html`<button>${w.firstCall.prepare}</button>` : html`<p class="hint">${w.reviewHint}</p>`}</form>`
}
<h2>${w.firstCall.write}</h2>
${command(w.firstCall.write, [
  install(addresses),
  `npx member-apps-sdk init my-app --client-id ${client.id} --apps ${addresses.apps}`,
])}
<h2>${w.firstCall.run}</h2>
${command(w.firstCall.run, ['cd my-app', 'npm install', 'npm run dev'])}
<h2>${w.firstCall.open}</h2>
<p>${w.firstCall.openLead(html`<a href="${PAGE}">${PAGE}</a>`)}</p>
<p class="links"><a href="${at('teams', team.id, 'test-club')}">${w.sections['test-club']}</a> <a href="/docs/first-app">${w.firstCall.docs}</a></p>`
}

const install = ({ apps }: Addresses) => `npm i ${new URL(apps).origin}/sdk.tgz`

const command = (label: string, lines: readonly string[]) =>
  codeBlock({ label, language: 'sh', code: lines.join('\n') })

import { sectionNames } from '../../rest-facade/sections.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import type { Brand } from '../browser/brand.ts'
import { dataUrlOf } from '../browser/brand.ts'
import { document } from '../browser/pages/document.ts'
import type { Html } from '../browser/pages/html.ts'
import { html } from '../browser/pages/html.ts'
import { words } from '../browser/pages/overview-words.ts'
import type { BaseUrls } from '../http/match-route.ts'
import type { ApiDocument } from './api-document.ts'
import { operationsOf, scopesOf } from './api-document.ts'
import { operationSection, prose } from './operation.ts'

export interface Reference {
  api: ApiDocument
  section: Section
  urls: BaseUrls
  /** Where members sign in; undefined with an external issuer. */
  issuer?: string | undefined
  brand?: Brand | undefined
  client?: string | undefined
}

/** Readable without the script, which shows parts that are hidden here. In English, as the document is. */
export const shell = (title: string, brand: Brand | undefined, head: Html, body: Html) =>
  document({
    language: 'en',
    mark: brand?.name ?? words.en.mark,
    logo: brand?.logo && dataUrlOf(brand.logo),
    title,
    style: head,
    body,
  })

export function referencePage(reference: Reference): string {
  const { api, section, urls } = reference
  const operations = operationsOf(api)
  return shell(
    `${api.info.title}: API reference`,
    reference.brand,
    html`<link rel="stylesheet" href="docs/style.css">
<script type="module" src="docs/try.js"></script>`,
    html`<div class="lead">${prose(api.info.description)}</div>
<code class="address">${urls[section]}</code>
<nav class="ways" aria-label="Reference">${sectionNames.map((name) => html`<a href="${urls[name]}/docs" ${name === section && html`aria-current="page"`}>${name}</a> `)}
<a href="docs/errors">Errors</a> <a href="/docs">Documentation</a> <a href="openapi.json">OpenAPI</a></nav>
${session(reference)}
<div class="columns">
<nav aria-label="Operations"><ul>${operations.map(({ operationId, method, path }) => html`<li><a href="#${operationId}"><b>${method}</b> <span>${path}</span></a></li>`)}</ul></nav>
<div>${operations.map((operation) => operationSection(operation, urls[section]))}</div>
</div>`,
  )
}

function session({ api, section, issuer, client }: Reference) {
  const scope = [...new Set(operationsOf(api).flatMap(scopesOf))].join(' ')
  return html`<section id="session" class="aside" hidden data-section="${section}" data-issuer="${issuer}" data-client="${client}" data-scope="${scope}">
<p id="session-state" role="status"></p>
<div class="ways"><button id="sign-in" class="chief">Sign in to try the calls</button> <button id="sign-out">Discard the token</button></div>
<details><summary>Use an existing token</summary><form id="token-form">
<label>Access token<input name="token" autocomplete="off" spellcheck="false" required></label>
<button>Use it</button>
</form></details>
</section>`
}

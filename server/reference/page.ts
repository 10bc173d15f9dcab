import type { Section } from '../../routers/kernel/scopes.ts'
import { isScope, scopes, sectionNames } from '../../routers/kernel/scopes.ts'
import { scopesAt } from '../../routers/section-scopes.ts'
import type { Brand } from '../browser/brand.ts'
import { toDataUrl } from '../browser/brand.ts'
import { SKIP } from '../browser/docs-layout/docs-layout.ts'
import { themeScript } from '../browser/look/theme.ts'
import { preloadTypeface } from '../browser/look/typefaces.ts'
import { document } from '../browser/pages/document.ts'
import type { Html } from '../browser/pages/html.ts'
import { html } from '../browser/pages/html.ts'
import { words } from '../browser/pages/overview-words.ts'
import type { OperationCode } from '../docs/docs.ts'
import type { BaseUrls } from '../http/match-route.ts'
import type { ApiDocument, Schema } from './api-document.ts'
import { listErrorSchemas, listOperations, listScopes } from './api-document.ts'
import { commonSection, findCommon } from './every-operation.ts'
import type { Language } from './languages.ts'
import { list, operationSection, prose } from './operation.ts'
import { listFields } from './schema-text.ts'
import { sidebar } from './sidebar.ts'

export interface Reference {
  api: ApiDocument
  section: Section
  /** The API at whose host the page is; by default its own. */
  host?: Section | undefined
  urls: BaseUrls
  /** Where members sign in; undefined with an external issuer. */
  issuer?: string | undefined
  brand?: Brand | undefined
  client?: string | undefined
  language: Language
  /** By operation, as the build wrote it. */
  code: Readonly<Record<string, OperationCode>>
  /** Puts the addresses of this service in place of their marks. */
  fill: (marked: string) => string
}

/** Readable without the scripts, which show parts that are hidden here. In English, as the document is. */
export const shell = (title: string, brand: Brand | undefined, above: Html, head: Html, body: Html) =>
  document({
    language: 'en',
    mark: brand?.name ?? words.en.mark,
    logo: brand?.logo && toDataUrl(brand.logo),
    skip: SKIP,
    above,
    title,
    style: head,
    body,
  })

export function referencePage(reference: Reference): string {
  const { api, section, host = section, urls, language, code, fill } = reference
  const query = host === section ? '' : `api=${section}`
  const operations = listOperations(api)
  const common = findCommon(operations)
  return shell(
    `${api.info.title}: API reference`,
    reference.brand,
    sidebar({ api, section, urls, page: 'operations' }),
    html`${themeScript('docs', 'en')}
${preloadTypeface('docs')}
<link rel="stylesheet" href="docs/style.css${query && `?${query}`}">
<script type="module" src="docs/frame.js"></script>
<script type="module" src="docs/try.js"></script>`,
    html`<div class="lead">${prose(api.info.description)}</div>
<code class="address">${urls[section]}</code>
<p class="hint">In the code, <code>token</code> is an access token. The SDK is the package <a href="/docs/sdk">@member-apps/sdk</a>. Programs of the platform call <a href="?${query && `${query}&`}code=trpc">tRPC</a> on <a href="/docs/first-party">its internal port</a>.</p>
${session(reference)}
${operations.map((operation) =>
  operationSection(operation, {
    section,
    base: urls[section],
    common,
    written: { language, code: code[operation.operationId], fill, query },
  }),
)}
${commonSection(operations, common)}
${listErrorSchemas(api).map(schemaSection)}`,
  )
}

const schemaSection = ([name, schema]: [string, Schema]) => html`<section class="operation" id="schema-${name}">
<h2><code>${name}</code></h2>
<div class="about">${prose(schema.description)}${list('', listFields(schema))}</div>
</section>`

const organisations = { apps: 'a club', lms: 'an academy', notify: 'a provider' }

/** What other APIs need of the same organisation's token. */
const listOthers = (all: readonly string[], needed: readonly string[]) =>
  [...new Set(all)].filter((scope) => !needed.includes(scope)).join(' ')

function session({ api, section, urls, issuer, client }: Reference) {
  const needed = [...new Set(listOperations(api).flatMap(listScopes))].filter(isScope)
  // A token is for one organisation, and the calls of sync are for several kinds.
  const sections = (['apps', 'lms', 'notify'] as const)
    .map((kind) => ({
      kind,
      scope: needed.filter((scope) => scopes[scope].section === kind),
      all: [...scopesAt(kind), ...scopesAt('sync')].filter((scope) => scopes[scope].section === kind),
    }))
    .filter(({ scope }) => scope.length > 0)
  const signIns = sections.map(
    ({ kind, scope, all }) =>
      html`<button class="primary sign-in" data-kind="${kind}" data-scope="${scope.join(' ')}" data-more="${listOthers(all, scope)}">${sections.length === 1 ? 'Sign in to try the calls' : `Sign in for ${organisations[kind]}`}</button> `,
  )
  const references = Object.fromEntries(sectionNames.map((name) => [name, `${urls[name]}/docs`]))
  return html`<section id="session" class="aside" hidden data-section="${section}" data-base="${urls[section]}" data-references="${JSON.stringify(references)}" data-issuer="${issuer}" data-client="${client}">
<p id="session-state" role="status"></p>
<div class="links">${signIns}<button id="sign-out">Discard the token</button></div>
<details><summary>Use an existing token</summary><form id="token-form">
<label>Access token<input name="token" autocomplete="off" spellcheck="false" required></label>
<button>Use it</button>
</form></details>
</section>`
}

import type { Section } from '../../../routers/kernel/scopes.ts'
import { sectionNames } from '../../../routers/kernel/scopes.ts'
import type { BaseUrls } from '../../http/match-route.ts'
import type { PortalLanguage } from '../language.ts'
import { html } from './html.ts'
import { words } from './overview-words.ts'
import type { PlainContext } from './self-contained.ts'
import { selfContained } from './self-contained.ts'

export interface OverviewView extends PlainContext {
  baseUrls: BaseUrls
  /** Undefined with an external issuer. */
  connected?: string | undefined
  portal?: string | undefined
  /** Hints for a trial; undefined for a public service. `example` is the sample app's address. */
  trial?: { example?: string | undefined } | undefined
}

export function overviewPage(view: OverviewView): string {
  const { language, brand, baseUrls, connected, trial } = view
  const w = words[language]
  return selfContained({
    language,
    brand,
    title: trial ? w.running : w.overview,
    body: html`<p class="lead">${w.about}</p>
${trial?.example && sampleApp(trial.example, language)}
<h2>${w.apis}</h2>
${sectionNames.map((section) => api(section, baseUrls[section], language))}
${connected && members(connected, language)}
${developers(view)}`,
  })
}

const sampleApp = (example: string, language: PortalLanguage) => html`<h2>${words[language].tryIt}</h2>
<p class="hint">${words[language].sample}</p>
<a class="button primary" href="${example}">${words[language].openSample}</a>`

const api = (section: Section, address: string, language: PortalLanguage) => html`<section class="api">
<h3>${section}</h3> <p class="hint">${words[language].api[section]}</p>
<div class="links"><code class="address">${address}</code> <a href="${address}/docs">${words[language].reference}<span class="visually-hidden"> ${section}</span></a> <a href="${address}/openapi.json">${words[language].document}<span class="visually-hidden"> ${section}</span></a></div>
</section>`

const members = (connected: string, language: PortalLanguage) => html`<h2>${words[language].members}</h2>
<p class="hint">${words[language].connectedHint}</p>
<p class="links"><a href="${connected}">${words[language].connected}</a></p>`

function developers({ language, baseUrls, portal, trial }: OverviewView) {
  const { developers: title, documentation, errors, portal: portalName, llms } = words[language]
  return html`<h2>${title}</h2>
<p class="links"><a href="/docs">${documentation}</a> <a href="${baseUrls.apps}/docs/errors">${errors}</a> ${portal && html`<a href="${portal}">${portalName}</a> `}<a href="/llms.txt">${llms}</a></p>
${trial?.example && firstCall(baseUrls.apps, language)}
${trial && commandList(language)}`
}

/** With a token from the command, as a token in the page would expire after an hour. */
const firstCall = (apps: string, language: PortalLanguage) => html`<p class="hint">${words[language].firstCall}</p>
<code class="address">curl -H "Authorization: Bearer $(npx member-apps token --member anna --club riverside --client trainer-app)" ${apps}/me/profile</code>`

function commandList(language: PortalLanguage) {
  const { commands } = words[language]
  const rows = [
    ['npm run studio', commands.studio],
    ['npx member-apps token --help', commands.token],
    ['npx member-apps client --help', commands.client],
  ]
  return html`<dl class="commands">${rows.map(([what, does]) => html`<div><dt><code>${what}</code></dt><dd>${does}</dd></div>`)}</dl>`
}

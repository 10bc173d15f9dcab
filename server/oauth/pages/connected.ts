import type { Scope } from '../../../routers/scopes.ts'
import { html, name, strongName } from '../../pages/html.ts'
import type { Language } from '../../pages/language.ts'
import { document, words } from './layout.ts'
import { changes, kindOf, wordsOf } from './scope-words.ts'
import type { AppView } from './views.ts'

interface ConnectedApp {
  consent: string
  app: AppView
  organisation: string
  scopes: readonly Scope[]
  since: Date
}

export interface ConnectedView {
  language: Language
  action: string
  member: string
  apps: ConnectedApp[]
  /** The name of the app that has just been withdrawn. */
  withdrawn?: string
}

const days = {
  en: new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }),
  de: new Intl.DateTimeFormat('de-DE', { dateStyle: 'long', timeZone: 'UTC' }),
}

export function connectedPage({ language, action, member, apps, withdrawn }: ConnectedView): string {
  const w = words[language]
  return document({
    language,
    title: w.connected,
    body: html`${withdrawn !== undefined && html`<p class="done" role="status">${w.withdrawn(strongName(withdrawn))}</p>`}
<p class="lead">${w.connectedFor(strongName(member))}</p>
${apps.length === 0 ? html`<p>${w.connectedNone}</p>` : html`<p class="hint">${w.withdrawHint}</p>`}
${apps.map((connected) => entry(connected, language, action))}
<form class="slip" method="post" action="${action}/sign-out"><button>${w.signOut}</button></form>`,
  })
}

function entry({ consent, app, organisation, scopes, since }: ConnectedApp, language: Language, action: string) {
  const w = words[language]
  const listed = [...scopes.filter((scope) => !changes(scope)), ...scopes.filter(changes)]
  return html`<section class="app">
<h2>${name(app.name)}</h2>
<p class="hint">${w.by(name(app.team))}</p>
<dl>
<div><dt>${w.organisation[kindOf(scopes)]}</dt><dd>${name(organisation)}</dd></div>
<div><dt>${w.since}</dt><dd><time datetime="${since.toISOString()}">${days[language].format(since)}</time></dd></div>
</dl>
<ul>${listed.map((scope) => html`<li>${wordsOf(scope, language)}</li>`)}</ul>
<form method="post" action="${action}/withdraw">
<button name="consent" value="${consent}">${w.withdraw} <span class="unseen">${name(app.name)}</span></button>
</form>
</section>`
}

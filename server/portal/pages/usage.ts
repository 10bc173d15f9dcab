import { chart } from '../../browser/look/components/chart.ts'
import { emptyState } from '../../browser/look/components/empty-state.ts'
import { tiles } from '../../browser/look/components/facts.ts'
import { select } from '../../browser/look/components/field.ts'
import { progress } from '../../browser/look/components/progress.ts'
import { table } from '../../browser/look/components/table.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import { clientChoice } from './client-choice.ts'
import type { App, ClientSummary, Team } from './team-page.ts'
import { appPage, teamPage } from './team-page.ts'

type Usage = Awaited<ReturnType<Developer['usage']>>

export interface Counts {
  /** The beginning of the period, in Unix seconds. */
  at: number
  ok: number
  refused: number
  limited: number
}

export interface UsageView {
  team: Team
  /** Only its requests and stores. */
  app?: App | undefined
  clients: readonly ClientSummary[]
  usage: Usage
  by: 'minute' | 'hour'
  /** Counts in equal intervals, including the empty ones. */
  bars: readonly Counts[]
}

export function usagePage(request: PageRequest, { team, app, clients, usage, by, bars }: UsageView): string {
  const { w } = request
  const { lastHour } = usage
  const content = {
    title: w.usage,
    body: html`<p class="hint">${w.limitHint(usage.limit)}</p>
<h2>${w.lastHour}</h2>
${tiles([
  [w.requestsOk, w.count(lastHour.ok)],
  [w.requestsRefused, w.count(lastHour.refused)],
  [w.requestsLimited, w.count(lastHour.limited)],
])}
<h2>${w.chart}</h2>
${filters(request, { team, app, clients, by })}
${usage.counts.length === 0 ? emptyState('chart-column', w.usageNone) : requests(request, { team, app, usage, by, bars })}
<h2>${w.replays}</h2>
${replays(request, usage)}
<h2>${w.storage}</h2>
${storage(request, usage, app)}
<p class="hint">${w.utc}</p>`,
  }
  return app ? appPage(request, team, app, 'usage', content) : teamPage(request, team, 'usage', content)
}

const filters = (
  { w, at, query }: PageRequest,
  { team, app, clients, by }: Pick<UsageView, 'team' | 'app' | 'clients' | 'by'>,
) => html`<div class="filters">
<form method="get" action="${app ? at('teams', team.id, 'apps', app.id, 'usage') : at('teams', team.id, 'usage')}">
${select({ id: 'by', name: 'by', label: w.period, value: by }, Object.entries(w.periods))}
${clientChoice({ w, query }, clients)}
<button>${w.show}</button>
</form>
</div>`

function requests(request: PageRequest, { team, app, usage, by, bars }: Omit<UsageView, 'clients'>) {
  const { w, language, at } = request
  const { byApp, clients } = usage
  const columns = [w.requestsOk, w.requestsRefused, w.requestsLimited]
  return html`${chart({
    label: w.chart,
    language,
    series: (['good', 'plain', 'bad'] as const).map((tone, at) => ({ name: columns[at]!, tone })),
    intervals: bars.map(({ at, ok, refused, limited }) => ({ at, values: [ok, refused, limited] })),
  })}
${
  !app &&
  html`<h3>${w.byApp}</h3>
${table(
  w.byApp,
  [w.app, ...columns],
  byApp.map(({ app: id, name: title, ok, refused, limited }) => [
    id === null
      ? html`<span class="hint">${w.removedClients}</span>`
      : html`<a href="${at('teams', team.id, 'apps', id, 'usage')}?by=${by}">${name(title ?? id)}</a>`,
    ok,
    refused,
    limited,
  ]),
)}`
}
<h3>${w.byClient}</h3>
${table(
  w.byClient,
  [w.client, ...columns],
  clients.map(({ client, name: title, ok, refused, limited }) => [name(title ?? client), ok, refused, limited]),
)}`
}

const replays = ({ w }: PageRequest, { replays: found }: Usage) =>
  found.length === 0
    ? html`<p>${w.replaysNone}</p>`
    : html`<p class="hint">${w.replaysHint}</p>
${table(
  w.replays,
  [w.client, w.replaysEnded],
  found.map(({ client, name: title, consents }) => [name(title || client), w.count(consents)]),
)}`

function storage({ w }: PageRequest, { apps, storage: stores }: Usage, app: App | undefined) {
  const names = new Map(apps.map(({ app, name: title }) => [app, title]))
  const used = apps.filter(({ bytes }) => bytes > 0)
  if (used.length === 0) return html`<p>${w.storageNone}</p>`
  return html`${table(
    app ? w.storage : w.byApp,
    [w.app, w.stores, w.stored],
    used.map((one) => [name(one.name), one.stores, w.bytes(one.bytes)]),
  )}
<h3>${w.largest}</h3>
${table(
  w.largest,
  [w.app, w.club, w.stored, w.limitShare],
  stores.map(({ app, club, bytes, limit }) => [
    name(names.get(app) ?? app),
    html`<code>${club}</code>`,
    w.bytes(bytes),
    progress({ label: w.limitShare, value: bytes, max: limit, text: w.percent(bytes / limit) }),
  ]),
)}`
}

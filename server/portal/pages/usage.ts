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
import type { ClientSummary, Team } from './team-page.ts'
import { teamPage } from './team-page.ts'

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
  clients: readonly ClientSummary[]
  usage: Usage
  by: 'minute' | 'hour'
  /** Counts in equal intervals, including the empty ones. */
  bars: readonly Counts[]
}

export function usagePage(request: PageRequest, { team, clients, usage, by, bars }: UsageView): string {
  const { w } = request
  const { lastHour } = usage
  return teamPage(request, team, 'usage', {
    title: w.usage,
    body: html`<p class="hint">${w.limitHint(usage.limit)}</p>
<h2>${w.lastHour}</h2>
${tiles([
  [w.requestsOk, w.count(lastHour.ok)],
  [w.requestsRefused, w.count(lastHour.refused)],
  [w.requestsLimited, w.count(lastHour.limited)],
])}
<h2>${w.chart}</h2>
${filters(request, { team, clients, by })}
${usage.counts.length === 0 ? emptyState('chart-column', w.usageNone) : requests(request, usage, bars)}
<h2>${w.replays}</h2>
${replays(request, usage)}
<h2>${w.storage}</h2>
${storage(request, usage)}
<p class="hint">${w.utc}</p>`,
  })
}

const filters = (
  { w, at, query }: PageRequest,
  { team, clients, by }: Pick<UsageView, 'team' | 'clients' | 'by'>,
) => html`<div class="filters">
<form method="get" action="${at('teams', team.id, 'usage')}">
${select({ id: 'by', name: 'by', label: w.period, value: by }, Object.entries(w.periods))}
${clientChoice({ w, query }, clients)}
<button>${w.show}</button>
</form>
</div>`

function requests(request: PageRequest, { clients }: Usage, bars: readonly Counts[]) {
  const { w, language } = request
  const columns = [w.requestsOk, w.requestsRefused, w.requestsLimited]
  return html`${chart({
    label: w.chart,
    language,
    series: (['good', 'plain', 'bad'] as const).map((tone, at) => ({ name: columns[at]!, tone })),
    intervals: bars.map(({ at, ok, refused, limited }) => ({ at, values: [ok, refused, limited] })),
  })}
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

function storage({ w }: PageRequest, { apps, storage: stores }: Usage) {
  const names = new Map(apps.map(({ app, name: title }) => [app, title]))
  const used = apps.filter(({ bytes }) => bytes > 0)
  if (used.length === 0) return html`<p>${w.storageNone}</p>`
  return html`${table(
    w.storageByApp,
    [w.app, w.stores, w.stored],
    used.map((app) => [name(app.name), app.stores, w.bytes(app.bytes)]),
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

import { procedures } from '../../../routers/index.ts'
import type { Meta } from '../../../routers/kernel/meta.ts'
import { readDefinition } from '../../../routers/kernel/trpc-internals.ts'
import { select, textInput } from '../../browser/look/components/field.ts'
import { table } from '../../browser/look/components/table.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import { clientChoice } from './client-choice.ts'
import { PAGE_ROWS } from './pager.ts'
import type { Around, Logged } from './request-outcome.ts'
import { outcome } from './request-outcome.ts'
import type { App, ClientSummary, Team } from './team-page.ts'
import { appPage, teamPage } from './team-page.ts'

export interface RequestsView {
  team: Team
  /** Only its requests. */
  app?: App | undefined
  clients: readonly ClientSummary[]
  items: readonly Logged[]
  next: string | null
  newest: string | null
  catalogue: string
  registrations: Around['registrations']
}

/** Method and path of each endpoint. */
const endpoints = Object.values(procedures).flatMap((procedure) => {
  const { openapi } = readDefinition(procedure).meta as Meta
  return openapi ? [`${openapi.method} ${openapi.path}`] : []
})

/** Where sign-ins fail, at the authorization server. */
const signInEndpoints = ['GET /authorize', 'POST /token', 'POST /device/auth']

export const statuses = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 429, 500, 503] as const

/** The status in the address with which successes are listed too. */
export const ALL = 'all'

export const requestTable = (request: PageRequest, items: readonly Logged[], around: Around) => {
  const { w } = request
  return table(
    w.requests,
    [w.time, w.status, w.request, w.client, w.outcome, w.requestId],
    items.map((item) => {
      const { at: time, status, method, route, client, clientName, requestId, ms } = item
      return [
        html`<time datetime="${time}"><span>${time.slice(0, 10)}</span> <span>${time.slice(11, 23)}</span></time>`,
        html`<strong>${status}</strong>`,
        html`<code>${method} ${route ?? w.noRoute}</code>`,
        html`<bdi>${clientName ?? client}</bdi>`,
        outcome(request, item, around),
        html`<code>${requestId}</code><br><span class="hint">${w.took(ms)}</span>`,
      ]
    }),
  )
}

export function requestsPage(
  request: PageRequest,
  { team, app, clients, items, next, newest, catalogue, registrations }: RequestsView,
): string {
  const { w, at, query } = request
  const own = app ? at('teams', team.id, 'apps', app.id, 'requests') : at('teams', team.id, 'requests')
  const isFiltered = ['id', 'client', 'status', 'route', 'member', 'before'].some((one) => query.has(one))
  const content = {
    title: w.requests,
    body: html`<p class="lead">${w.requestsLead}</p>
${filters(request, clients, own)}
${successSwitch(request, own)}
${!query.has('before') && !query.has('id') && liveTail(request, newest)}
${items.length === 0 ? html`<p>${isFiltered ? w.requestsNoneSo : w.requestsNone}</p>` : requestTable(request, items, { team, catalogue, registrations })}
${turning(request, own, next)}
<p class="hint">${w.utc}</p>`,
  }
  return app ? appPage(request, team, app, 'requests', content) : teamPage(request, team, 'requests', content)
}

const filters = (
  { w, query }: PageRequest,
  clients: readonly ClientSummary[],
  own: string,
) => html`<div class="filters">
<form method="get" action="${own}">
${textInput({ id: 'id', name: 'id', label: w.requestId, hint: w.requestIdHint, value: query.get('id') ?? '', maxLength: 255, required: false }, 'text')}
<button>${w.find}</button>
</form>
<form method="get" action="${own}">
${clientChoice({ w, query }, clients)}
${select({ id: 'status', name: 'status', label: w.status, value: query.get('status') ?? '' }, [['', w.errorsOnly], [ALL, w.allRequests], ...statuses.map((status) => [String(status), String(status)] as const)])}
${select({ id: 'route', name: 'route', label: w.request, value: query.get('route') ?? '' }, [['', w.all], ...[...signInEndpoints, ...endpoints].map((one) => [one, one] as const)])}
${textInput({ id: 'member', name: 'member', label: w.memberId, value: query.get('member') ?? '', maxLength: 255, required: false }, 'text')}
<button>${w.show}</button>
</form>
</div>`

/** The same list with successes, or without them. */
function successSwitch({ w, query }: PageRequest, own: string) {
  const all = query.get('status') === ALL
  const other = keepFilters(query)
  if (all) other.delete('status')
  else other.set('status', ALL)
  return html`<p class="links"><a href="${own}${other.size > 0 && `?${other}`}">${all ? w.hideSuccesses : w.showSuccesses}</a></p>
${all && html`<p class="hint">${w.successesHint}</p>`}`
}

const keepFilters = (query: URLSearchParams) =>
  new URLSearchParams([...query].filter(([key]) => ['client', 'status', 'route', 'member'].includes(key)))

/** The script asks for what came after the newest row, and shows the button that pauses it. */
const liveTail = ({ own, w, query }: PageRequest, newest: string | null) =>
  html`<p hidden data-tail="${newest ?? query.get('after') ?? '0-0'}" data-most="${PAGE_ROWS}"><button type="button" aria-pressed="false">${w.liveTail}</button></p>
<noscript><p class="links"><a href="${own}${query.size > 0 && `?${String(query)}`}">${w.reload}</a></p></noscript>`

/** This list grows at its beginning, so its pages are linked by a cursor. */
function turning({ w, query }: PageRequest, own: string, next: string | null): Html | null {
  const link = (text: string, before: string | null) => {
    const kept = keepFilters(query)
    if (before !== null) kept.set('before', before)
    return html`<a href="${own}${kept.size > 0 && `?${kept}`}">${text}</a>`
  }
  if (next === null && !query.has('before')) return null
  return html`<nav class="pager" aria-label="${w.pager.label}">
${query.has('before') && link(w.newest, null)} ${next !== null && link(w.older, next)}
</nav>`
}

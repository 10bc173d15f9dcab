import { badge } from '../../browser/look/components/badge.ts'
import { tiles } from '../../browser/look/components/facts.ts'
import { timeAgo } from '../../browser/look/components/time.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import type { Team } from './team-page.ts'

export type Health = Awaited<ReturnType<Developer['apps']['health']>>

export function healthTiles({ w }: PageRequest, { requests: { ok, refused, limited } }: Health) {
  const all = ok + refused + limited
  return html`<h2>${w.lastDay}</h2>
${tiles([
  [w.requests, w.count(all)],
  [w.requestsRefused, w.count(refused)],
  [w.limitedShare, w.percent(all === 0 ? 0 : limited / all)],
])}`
}

export function lastError(
  request: PageRequest,
  team: Team,
  { health, catalogue }: { health: Health; catalogue: string },
) {
  const { w, at } = request
  const error = health.lastError
  if (!error) return html`<p class="hint">${w.lastErrorNone}</p>`
  const found = `${at('teams', team.id, 'requests')}?id=${encodeURIComponent(error.requestId)}`
  return html`<p class="last"><span class="hint">${w.lastError}</span> ${timeAgo(Date.parse(error.at) / 1_000, request)}<br>
<strong>${error.status}</strong> <code>${error.method} ${error.route ?? w.noRoute}</code> <span lang="en">${error.message ?? error.error}</span><br>
<a href="${catalogue}#${error.error}">${w.remedy}</a> <a href="${found}">${w.open}</a></p>`
}

/** A webhook works while its newest delivery has succeeded. */
export function webhookFacts(request: PageRequest, own: string, webhook: NonNullable<Health['webhook']>) {
  const { w } = request
  const { url, failed, deliveries, last } = webhook
  if (url === null) return html`<a href="${own}/webhook">${w.webhookSet}</a>`
  if (!last) return html`<a href="${own}/webhook">${w.webhookUnused}</a>`
  const works = last.state === 'delivered'
  return html`${badge(works ? w.webhookWorks : w.webhookFails, works ? 'good' : 'bad')} <a href="${own}/deliveries">${w.deliveriesFailed(failed, deliveries)}</a><br>
<span class="hint">${timeAgo(last.createdAt, request)}</span>`
}

export const storageFacts = ({ w }: PageRequest, { stores, bytes, fullest, limit }: Health['storage']) =>
  stores === 0 ? w.storageNone : w.storageFacts(w.bytes(bytes), stores, w.percent(fullest / limit))

import { badge } from '../../browser/look/components/badge.ts'
import { copyable, fact } from '../../browser/look/components/facts.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Addresses } from '../addresses.ts'
import type { PageRequest } from '../page-request.ts'
import { deletionNotice } from './deletion.ts'
import type { FirstSteps } from './first-steps.ts'
import { firstSteps } from './first-steps.ts'
import { healthTiles, lastError, storageFacts, webhookFacts } from './health.ts'
import type { Around, Logged } from './request-outcome.ts'
import { requestTable } from './requests.ts'
import { appPage } from './team-page.ts'

interface Overview extends FirstSteps {
  addresses: Addresses
  latest: { items: readonly Logged[]; registrations: Around['registrations'] }
  clubApproval: boolean
}

export function appOverview(request: PageRequest, { clubApproval, latest, ...view }: Overview): string {
  const { w, at } = request
  const { team, app, health, addresses } = view
  const own = at('teams', team.id, 'apps', app.id)
  return appPage(request, team, app, 'overview', {
    title: w.app,
    heading: html`${w.appSections.overview}`,
    body: html`${app.state === 'suspended' && app.endsAt === null && html`<p>${badge(w.state.suspended, 'bad')}</p>`}
${deletionNotice(request, { own, endsAt: app.endsAt, isOwner: team.role === 'owner' && team.endsAt === null })}
${(app.wanted ?? app.refusal) !== null && html`<p>${badge(app.wanted ? w.waiting : w.changesRefused, app.wanted ? 'pending' : 'bad')} <a href="${own}/settings">${w.appSections.settings}</a></p>`}
${app.state === 'active' && firstSteps(request, view)}
<div class="columns"><div>
${healthTiles(request, health)}
${lastError(request, team, { health, catalogue: addresses.catalogue })}
</div><div>
<dl class="stacked">${fact(w.appId, copyable(w.appId, app.id))}${fact(w.provider, name(app.provider.name))}
${health.webhook && fact(w.webhook, webhookFacts(request, own, health.webhook))}
${fact(w.storage, storageFacts(request, health.storage))}</dl>
${clubApproval && html`<p class="links"><a href="${own}/clubs">${w.clubs.title}</a></p>`}
</div></div>
${
  latest.items.length > 0 &&
  html`<h2>${w.latestRefused}</h2>
${requestTable(request, latest.items, { team, catalogue: addresses.catalogue, registrations: latest.registrations })}
<p class="links"><a href="${own}/requests">${w.requests}</a></p>
<p class="hint">${w.utc}</p>`
}`,
  })
}

import { badge } from '../../browser/look/components/badge.ts'
import { copyable, fact } from '../../browser/look/components/facts.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import { deletionNotice } from './deletion.ts'
import type { Health } from './health.ts'
import { healthTiles, lastError, storageFacts, webhookFacts } from './health.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'

interface Overview {
  team: Team
  app: App
  health: Health
  catalogue: string
  clubApproval: boolean
}

export function appOverview(request: PageRequest, { team, app, health, catalogue, clubApproval }: Overview): string {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id)
  return appPage(request, team, app, 'overview', {
    title: w.app,
    heading: html`${w.appSections.overview}`,
    body: html`${app.state === 'suspended' && app.endsAt === null && html`<p>${badge(w.state.suspended, 'bad')}</p>`}
${deletionNotice(request, { own, endsAt: app.endsAt, isOwner: team.role === 'owner' && team.endsAt === null })}
<div class="columns"><div>
${healthTiles(request, health)}
${lastError(request, team, { health, catalogue })}
</div><div>
<dl class="stacked">${fact(w.appId, copyable(w.appId, app.id))}${fact(w.provider, name(app.provider.name))}
${health.webhook && fact(w.webhook, webhookFacts(request, own, health.webhook))}
${fact(w.storage, storageFacts(request, health.storage))}</dl>
${clubApproval && html`<p class="links"><a href="${own}/clubs">${w.clubs.title}</a></p>`}
${(app.wanted ?? app.refusal) !== null && html`<p class="links"><a href="${own}/settings">${app.wanted ? w.waiting : w.changesRefused}</a></p>`}
</div></div>`,
  })
}

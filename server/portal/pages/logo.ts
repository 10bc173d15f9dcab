import { pageContext, pathOf } from '../../browser/page-context.ts'
import { html } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { hidden } from './fields.ts'
import { formOf } from './form.ts'
import type { App, Team } from './team-page.ts'

export const logoOf = ({ ctx }: Visit, app: App, version: string, alt: string) =>
  html`<img class="icon" src="${pathOf(pageContext(ctx))}/icons/${encodeURIComponent(app.id)}/${version}" width="48" height="48" alt="${alt}">`

export function logoForms(visit: Visit, team: Team, app: App) {
  const { w, at } = visit
  const own = at('teams', team.id, 'apps', app.id)
  return html`<section class="sheet">
<h2>${w.logo}</h2>
<p>${app.logo === null ? w.logoNone : logoOf(visit, app, app.logo, w.logoOf(app.name))}</p>
<form method="post" action="${own}/logo" enctype="multipart/form-data">
${hidden('version', app.version)}
${formOf(visit, 'logo').upload({ id: 'app-logo', name: 'picture', label: w.logoFile, hint: w.logoHint, accept: 'image/png, image/jpeg' })}
<div class="buttons"><button>${w.upload}</button>${(app.logo !== null || app.wanted?.logo !== undefined) && html` <button form="remove-logo">${w.removeLogo}</button>`}</div>
</form>
<form id="remove-logo" method="post" action="${own}/remove-logo">${hidden('version', app.version)}</form>
</section>`
}

import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import { pageContext, readPath } from '../../browser/page-context.ts'
import { html } from '../../browser/pages/html.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'
import { refusal, waiting } from './waiting.ts'

const renderLogo = ({ ctx }: PageRequest, app: App, version: string, alt: string) =>
  html`<img class="icon" src="${readPath(pageContext(ctx))}/icons/${encodeURIComponent(app.id)}/${version}" width="48" height="48" alt="${alt}">`

const version = z.int()

export const detailsForm = form('details', developer.apps.update, ['version', 'name', 'description', 'homepage'], {
  own: { version },
})
export const logoForm = form('logo', developer.apps.setLogo, ['version', 'picture'], {
  own: { version, picture: z.file() },
})
export const logoRemovalForm = form('remove-logo', developer.apps.removeLogo, ['version'], { own: { version } })
export const appWithdrawalForm = form('withdraw-changes', developer.apps.withdrawChanges, ['version'])

export function settingsPage(request: PageRequest, { team, app }: { team: Team; app: App }): string {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id)
  const { wanted, refusal: refused } = app
  return appPage(request, team, app, 'settings', {
    title: w.appSections.settings,
    body: html`${waiting(request, wanted, app, wanted?.logo === undefined ? {} : { logo: renderLogo(request, app, wanted.logo, w.logoWaits) })}
${
  wanted &&
  html`<form method="post" action="${own}/settings/withdraw-changes">${appWithdrawalForm.at(request, { version: app.version }).hidden('version')}<p><button>${w.withdrawChanges}</button></p></form>`
}
${refusal(request, refused, { again: `${own}/settings?again=yes`, shown: refused?.asked.logo === undefined ? {} : { logo: html`${w.logoRefused}` } })}
${details(request, own, app)}
${logoForms(request, own, app)}
${team.role === 'owner' && app.state === 'active' && html`<p class="links"><a href="${own}/delete">${w.deleteApp}</a></p>`}`,
  })
}

function details(request: PageRequest, own: string, app: App) {
  const { w, query } = request
  const asked = query.has('again') ? app.refusal?.asked : undefined
  // With pending changes, as a form that lacked them would withdraw them.
  const { name, description, homepage } = { ...app, ...app.wanted, ...asked }
  const { seen, field } = detailsForm.at(request, { version: app.version, name, description, homepage })
  return html`<form class="card" method="post" action="${own}/settings/details" novalidate>
<h2>${w.details}</h2>
${app.wanted && html`<p class="hint">${w.waitingShown}</p>`}
${seen('version')}
${field('name', { label: w.name, hint: w.nameHint })}
${field('description', { label: w.description, rows: 3 })}
${field('homepage', { label: w.homepage, hint: w.homepageHint })}
<button>${w.save}</button>
</form>`
}

function logoForms(request: PageRequest, own: string, app: App) {
  const { w } = request
  const logo = logoForm.at(request, { version: app.version })
  return html`<section class="card">
<h2>${w.logo}</h2>
<p>${app.logo === null ? w.logoNone : renderLogo(request, app, app.logo, w.logoAlt(app.name))}</p>
<form method="post" action="${own}/settings/logo" enctype="multipart/form-data">
${logo.hidden('version')}
${logo.field('picture', { label: w.logoFile, hint: w.logoHint, accept: 'image/png, image/jpeg' })}
<div class="buttons"><button>${w.upload}</button>${(app.logo !== null || app.wanted?.logo !== undefined) && html` <button form="remove-logo">${w.removeLogo}</button>`}</div>
</form>
<form id="remove-logo" method="post" action="${own}/settings/remove-logo">${logoRemovalForm.at(request, { version: app.version }).hidden('version')}</form>
</section>`
}

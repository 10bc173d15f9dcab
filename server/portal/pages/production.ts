import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import { redirectFault } from '../../../routers/developer/shared/registration.ts'
import { banner } from '../../browser/look/components/banner.ts'
import { fact } from '../../browser/look/components/facts.ts'
import { html, name } from '../../browser/pages/html.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import type { ClientView } from './client.ts'
import { clientPageUrl, nameHint } from './client.ts'
import { scopeOptions } from './scope-options.ts'
import type { App } from './team-page.ts'
import { clientPage } from './team-page.ts'

export const productionForm = form(
  'request',
  developer.clients.requestProduction,
  ['version', 'purpose', 'name', 'redirectUris', 'devices', 'scopes'],
  { own: { version: z.int() } },
)

export function productionPage(request: PageRequest, view: ClientView): string {
  const { w } = request
  const { client } = view
  // Without those that are for development only.
  const redirectUris = client.redirectUris.filter((uri) => redirectFault(uri, client.type, false) === null)
  const { seen, field } = productionForm.at(request, { ...client, redirectUris, purpose: client.purpose ?? {} })
  return clientPage(request, view, undefined, {
    title: w.production,
    body: html`<p class="lead">${client.state === 'refused' ? w.productionAgain : w.productionLead(name(client.name))}</p>
${client.refusal && banner('bad', html`<bdi>${client.refusal.reason}</bdi>`)}
<div class="columns"><div>
<form method="post" action="${clientPageUrl(request, view)}/production/request">
${seen('version')}
${field('name', { label: w.name, hint: nameHint(request, client) })}
${field('redirectUris', { label: w.redirects, hint: w.redirectsHint, rows: 3 })}
${field('devices', { label: w.devices, hint: w.devicesHint })}
${field('scopes', { label: w.scopes, hint: w.productionScopes, options: scopeOptions(request, client.scopes) })}
${field('purpose', { label: w.productionPurpose, hint: w.productionPurposeHint, options: scopeOptions(request, client.scopes) })}
<div class="buttons"><button class="primary">${w.productionSend}</button> <a class="button" href="${clientPageUrl(request, view)}">${w.cancel}</a></div>
</form>
</div><div>
${view.app && shownToMembers(request, view, view.app)}
<h2>${w.productionNext}</h2>
<ol class="steps">${w.productionSteps.map((step) => html`<li>${step}</li>`)}</ol>
</div></div>`,
  })
}

/** What members read of the app on the consent page, and the operator with the request. */
function shownToMembers(
  { w, at }: PageRequest,
  { team }: ClientView,
  { id, name: title, description, homepage, logo }: App,
) {
  const missing = html`<em>${w.productionMissing}</em>`
  return html`<h2>${w.productionShown}</h2>
<dl class="facts stacked">
${fact(w.name, name(title))}
${fact(w.description, description === null ? missing : name(description))}
${fact(w.homepage, homepage ?? missing)}
${fact(w.logo, logo === null ? missing : w.yes)}
</dl>
<p class="links"><a href="${at('teams', team.id, 'apps', id)}/settings">${w.productionComplete}</a></p>`
}

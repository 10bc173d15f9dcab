import { fact } from '../../browser/look/components/facts.ts'
import { formatDay } from '../../browser/look/components/time.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { portalPage } from './layout.ts'

export const acceptForm = form('accept')
export const declineForm = form('decline')

export type Invitation = Awaited<ReturnType<Developer['invitations']['list']>>['items'][number]

export function invitationPage(request: PageRequest, { id, team, role, invitedBy, expiresAt }: Invitation): string {
  const { w, at, language } = request
  const own = at('invitations', id)
  return portalPage(request, {
    title: w.invitation,
    heading: w.joinQuestion(name(team.name)),
    body: html`<p class="lead">${w.joinLead}</p>
<dl class="facts">
${fact(w.team, name(team.name))}
${fact(w.roleLabel, w.role[role])}
${fact(w.invitedBy, invitedBy === null ? w.operator : name(invitedBy))}
${fact(w.expires, formatDay(expiresAt, language))}
</dl>
<div class="buttons">
<form method="post" action="${own}/accept"><button class="primary">${w.accept}</button></form>
<form method="post" action="${own}/decline"><button>${w.decline}</button></form>
</div>`,
  })
}

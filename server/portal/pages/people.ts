import { withLabels } from '../../../routers/kernel/labels.ts'
import { html, name, strongName } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { hidden } from './fields.ts'
import { formOf } from './form.ts'
import { offsetOf, pager } from './pager.ts'
import { table } from './table.ts'
import type { People, Person, Team } from './team-page.ts'
import { teamPage } from './team-page.ts'
import { dayOf } from './times.ts'

export function personRemovalPage(visit: Visit, team: Team, colleague: Person): string {
  const { w, at, person } = visit
  const people = at('teams', team.id, 'people')
  const { id, role } = colleague
  const isSelf = id === person.id
  const title = isSelf ? w.leave : w.removePerson
  return teamPage(visit, team, 'people', {
    title,
    heading: isSelf ? w.leaveQuestion(name(team.name)) : w.removePersonQuestion(name(colleague.name)),
    body: html`<p class="lead">${isSelf ? w.leaveLead(strongName(team.name)) : w.removePersonLead(strongName(colleague.name), w.role[role], strongName(team.name))}</p>
<form method="post" action="${at('teams', team.id, 'people', id)}/remove/confirm">${hidden('confirm', role)}
<div class="buttons"><button class="chief">${title}</button> <a class="button" href="${people}">${w.cancel}</a></div>
</form>`,
  })
}

export function peoplePage(visit: Visit, team: Team, list: People, sendsMails: boolean): string {
  const { w } = visit
  const isOwner = team.role === 'owner'
  return teamPage(visit, team, 'people', {
    title: w.people,
    body: html`${!isOwner && html`<p class="hint">${w.peopleOwner}</p>`}
${people(visit, team, list)}
${pager(visit, { offset: offsetOf(visit), shown: list.items.length, more: list.more })}
${list.invitations.length > 0 && invitations(visit, team, list)}
${isOwner && inviteForm(visit, team, sendsMails)}`,
  })
}

function people(visit: Visit, team: Team, { items }: People) {
  const { w, at, language, person } = visit
  const own = at('teams', team.id, 'people')
  const isOwner = team.role === 'owner'
  const roles = [
    ['owner', w.role.owner],
    ['developer', w.role.developer],
  ] as const
  const rows = withLabels(items, ({ email }) => [email]).map((one) => {
    const isSelf = one.id === person.id
    const roleForm = html`<form class="inline" method="post" action="${own}/role">${hidden('person', one.id)}
<select name="role" aria-label="${w.roleOf}: ${one.name}">${roles.map(([role, text]) => html`<option value="${role}"${role === one.role && html` selected`}>${text}</option>`)}</select>
<button>${w.setRole}<span class="unseen"> ${one.name}</span></button></form>`
    const remove = html`<a class="button" href="${at('teams', team.id, 'people', one.id)}/remove">${isSelf ? w.leave : html`${w.remove}<span class="unseen"> ${one.name}</span>`}</a>`
    return [
      html`${name(one.name)}${isSelf && ` (${w.you})`}<br><span class="hint">${one.email}</span>`,
      isOwner ? roleForm : w.role[one.role],
      dayOf(one.since, language),
      isOwner || isSelf ? remove : '',
    ]
  })
  return table(w.people, [w.name, w.roleOf, w.since, w.actions], rows)
}

function invitations({ w, at, language }: Visit, team: Team, list: People) {
  const rows = list.invitations.map(({ id, email, role, invitedBy, expiresAt }) => [
    email,
    w.role[role],
    invitedBy === null ? w.operator : name(invitedBy),
    dayOf(expiresAt, language),
    team.role === 'owner'
      ? html`<form class="inline" method="post" action="${at('teams', team.id, 'people')}/withdraw">${hidden('invitation', id)}
<button>${w.withdraw}<span class="unseen"> ${email}</span></button></form>`
      : '',
  ])
  return html`<h2>${w.invitations}</h2>
${table(w.invitations, [w.email, w.roleOf, w.invitedBy, w.expires, w.actions], rows)}`
}

function inviteForm(visit: Visit, team: Team, sendsMails: boolean) {
  const { w, at } = visit
  const form = formOf(visit, 'invite')
  return html`<form class="sheet" method="post" action="${at('teams', team.id, 'people')}/invite" novalidate>
<h2>${w.invite}</h2>
${form.field({ id: 'invite-email', name: 'email', label: w.email, hint: sendsMails ? w.emailHint : w.emailHintUnsent, type: 'email', required: true, maxlength: 254 })}
${form.choice({ id: 'invite-role', name: 'role', label: w.roleOf, hint: w.roleHint, value: 'developer' }, [
  ['developer', w.role.developer],
  ['owner', w.role.owner],
])}
<button>${w.inviteSend}</button>
</form>`
}

import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import { withLabels } from '../../../routers/kernel/labels.ts'
import { confirmation } from '../../browser/look/components/confirmation.ts'
import { table } from '../../browser/look/components/table.ts'
import { formatDay, timeAgo } from '../../browser/look/components/time.ts'
import { html, name, strongName } from '../../browser/pages/html.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { pager, readOffset } from './pager.ts'
import type { People, Person, Team } from './team-page.ts'
import { teamPage } from './team-page.ts'

export const inviteForm = form('invite', developer.people.invite, ['email', 'role'], {
  errorsAt: { emailInvalid: 'email', alreadyInTeam: 'email' },
})
export const withdrawalForm = form('withdraw', developer.people.withdraw, ['invitation'])
export const roleForm = form('role', developer.people.setRole, ['person', 'role'])
/** The role as the question named it. */
export const personRemovalForm = form('confirm', developer.people.remove, ['role'], { own: { role: z.string() } })

export function personRemovalPage(request: PageRequest, team: Team, colleague: Person): string {
  const { w, at, person } = request
  const people = at('teams', team.id, 'people')
  const { id, role } = colleague
  const isSelf = id === person.id
  const title = isSelf ? w.leave : w.removePerson
  return teamPage(request, team, 'people', {
    title,
    heading: isSelf ? w.leaveQuestion(name(team.name)) : w.removePersonQuestion(name(colleague.name)),
    body: confirmation({
      lead: isSelf
        ? w.leaveLead(strongName(team.name))
        : w.removePersonLead(strongName(colleague.name), w.role[role], strongName(team.name)),
      action: `${at('teams', team.id, 'people', id)}/remove/confirm`,
      fields: personRemovalForm.at(request, { role }).hidden('role'),
      button: title,
      cancel: { text: w.cancel, address: people },
    }),
  })
}

export function peoplePage(request: PageRequest, team: Team, list: People, sendsMails: boolean): string {
  const { w } = request
  const isOwner = team.role === 'owner'
  return teamPage(request, team, 'people', {
    title: w.people,
    body: html`${!isOwner && html`<p class="hint">${w.peopleOwner}</p>`}
${people(request, team, list)}
${pager(request, { offset: readOffset(request), shown: list.items.length, more: list.more })}
${list.invitations.length > 0 && invitations(request, team, list)}
${isOwner && invite(request, team, sendsMails)}`,
  })
}

function people(request: PageRequest, team: Team, { items }: People) {
  const { w, at, language, person } = request
  const own = at('teams', team.id, 'people')
  const isOwner = team.role === 'owner'
  const roles = [
    ['owner', w.role.owner],
    ['developer', w.role.developer],
  ] as const
  const rows = withLabels(items, ({ email }) => [email]).map((one) => {
    const isSelf = one.id === person.id
    const roleChoice = html`<form class="inline" method="post" action="${own}/role">${roleForm.at(request, { person: one.id }).hidden('person')}
<select name="role" aria-label="${w.roleLabel}: ${one.name}">${roles.map(([role, text]) => html`<option value="${role}"${role === one.role && html` selected`}>${text}</option>`)}</select>
<button>${w.setRole}<span class="visually-hidden"> ${one.name}</span></button></form>`
    const remove = html`<a class="button" href="${at('teams', team.id, 'people', one.id)}/remove">${isSelf ? w.leave : html`${w.remove}<span class="visually-hidden"> ${one.name}</span>`}</a>`
    return [
      html`${name(one.name)}${isSelf && ` (${w.you})`}<br><span class="hint">${one.email}</span>`,
      isOwner ? roleChoice : w.role[one.role],
      formatDay(one.since, language),
      isOwner || isSelf ? remove : '',
    ]
  })
  return table(w.people, [w.name, w.roleLabel, w.since, w.actions], rows)
}

function invitations(request: PageRequest, team: Team, list: People) {
  const { w, at } = request
  const rows = list.invitations.map(({ id, email, role, invitedBy, expiresAt }) => [
    email,
    w.role[role],
    invitedBy === null ? w.operator : name(invitedBy),
    timeAgo(expiresAt, request),
    team.role === 'owner'
      ? html`<form class="inline" method="post" action="${at('teams', team.id, 'people')}/withdraw">${withdrawalForm.at(request, { invitation: id }).hidden('invitation')}
<button>${w.withdraw}<span class="visually-hidden"> ${email}</span></button></form>`
      : '',
  ])
  return html`<h2>${w.invitations}</h2>
${table(w.invitations, [w.email, w.roleLabel, w.invitedBy, w.expires, w.actions], rows)}`
}

function invite(request: PageRequest, team: Team, sendsMails: boolean) {
  const { w, at } = request
  const { field } = inviteForm.at(request, { role: 'developer' })
  return html`<form class="card" method="post" action="${at('teams', team.id, 'people')}/invite" novalidate>
<h2>${w.invite}</h2>
${field('email', { label: w.email, hint: sendsMails ? w.emailHint : w.emailHintUnsent })}
${field('role', {
  label: w.roleLabel,
  hint: w.roleHint,
  options: Object.entries(w.role),
})}
<button class="primary">${w.inviteSend}</button>
</form>`
}

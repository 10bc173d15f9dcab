import { developer } from '../../../routers/developer/procedures.ts'
import { fact } from '../../browser/look/components/facts.ts'
import { formatDay } from '../../browser/look/components/time.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'

export const createTeamForm = form('create-team', developer.teams.create, ['name'])
export const requestTeamForm = form('request-team', developer.teams.request, ['name', 'purpose'])
export const withdrawTeamForm = form('withdraw-team')

export type Signup = Awaited<ReturnType<Developer['teams']['signup']>>

/** How the person gets a team. `isFirst`: they are in none, and the form is the next step. */
export function teamSignup(request: PageRequest, { mode, request: asked }: Signup, isFirst: boolean): Html {
  if (asked?.state === 'requested') return pending(request, asked)
  if (mode === 'open') return creation(request, isFirst)
  if (mode === 'request') return html`${asked && refusal(request, asked)}${application(request, asked, isFirst)}`
  return html`<p class="hint">${request.w.newTeam.closed}</p>`
}

type Asked = NonNullable<Signup['request']>

function pending({ w, at, language }: PageRequest, { name: title, purpose, requestedAt }: Asked) {
  return html`<section class="card"><h2>${w.newTeam.pending(name(title))}</h2>
<p>${w.newTeam.pendingLead}</p>
<dl class="facts">
${fact(w.newTeam.purpose, purpose)}
${fact(w.newTeam.requestedOn, formatDay(requestedAt, language))}
</dl>
<form method="post" action="${at('withdraw-team')}"><button>${w.newTeam.withdraw}</button></form>
</section>`
}

const refusal = ({ w, language }: PageRequest, { name: title, reason, refusedAt }: Asked) =>
  html`<section class="aside"><h2>${w.newTeam.refused(name(title))}</h2>
<dl class="facts">
${fact(w.newTeam.reason, reason ?? '')}
${fact(w.newTeam.refusedOn, formatDay(refusedAt!, language))}
</dl></section>`

function creation(request: PageRequest, isFirst: boolean) {
  const { w, at } = request
  const { isRefused, field } = createTeamForm.at(request)
  return html`<details class="card"${(isRefused || isFirst) && html` open`}><summary>${w.newTeam.title}</summary>
<form method="post" action="${at('create-team')}">
${field('name', { label: w.name, hint: w.newTeam.nameHint })}
<button class="primary">${w.newTeam.create}</button>
</form></details>`
}

function application(request: PageRequest, asked: Asked | null, isFirst: boolean) {
  const { w, at } = request
  const { isRefused, field } = requestTeamForm.at(request, asked ?? {})
  return html`<details class="card"${(isRefused || isFirst || asked !== null) && html` open`}><summary>${w.newTeam.title}</summary>
<form method="post" action="${at('request-team')}">
<p>${w.newTeam.requestLead}</p>
${field('name', { label: w.name, hint: w.newTeam.nameHint })}
${field('purpose', { label: w.newTeam.purpose, hint: w.newTeam.purposeHint, rows: 3 })}
<button class="primary">${w.newTeam.request}</button>
</form></details>`
}

import { developer } from '../../../routers/developer/procedures.ts'
import { badge } from '../../browser/look/components/badge.ts'
import { confirmation } from '../../browser/look/components/confirmation.ts'
import { copyable, fact, factList } from '../../browser/look/components/facts.ts'
import { formatMoment } from '../../browser/look/components/time.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import type { Team } from './team-page.ts'
import { teamPage } from './team-page.ts'

export const reviewForm = form('review', developer.testClub.review, ['result', 'correct'])
export const changeForm = form('change', developer.testClub.change, ['member', 'change'])
export const withdrawForm = form('withdraw', developer.testClub.withdraw, ['member', 'client'])
export const resetForm = form('confirm')

type Impact = Awaited<ReturnType<Developer['testClub']['impact']>>

export function testClubResetPage(request: PageRequest, team: Team, { entries, bytes, results }: Impact): string {
  const { w, at } = request
  const own = at('teams', team.id, 'test-club')
  return teamPage(request, team, 'test-club', {
    title: w.testClubReset,
    heading: html`${w.testClubResetQuestion}`,
    body: confirmation({
      lead: w.testClubResetLead,
      facts: factList([
        [w.storedEntries, entries === 0 ? w.storageNone : html`${w.count(entries)} (${w.bytes(bytes)})`],
        [w.quizResults, w.count(results)],
      ]),
      action: `${own}/reset/confirm`,
      fields: html`<p>${w.testClubResetStays}</p>`,
      button: w.testClubReset,
      cancel: { text: w.cancel, address: own },
    }),
  })
}

type TestClub = NonNullable<Awaited<ReturnType<Developer['testClub']['get']>>['testClub']>
type Named = TestClub['club']

export function testClubPage(request: PageRequest, team: Team, testClub: TestClub | null): string {
  const { w, at } = request
  const own = at('teams', team.id, 'test-club')
  return teamPage(request, team, 'test-club', {
    title: w.testClub,
    body: html`<p class="lead">${w.testClubLead}</p>
${testClub ? content(request, team, testClub) : html`<p>${w.testClubNone}</p>`}
${
  testClub
    ? html`<div class="buttons"><a class="button" href="${own}/reset">${w.testClubReset}</a></div>`
    : html`<form method="post" action="${own}/reset/confirm">
<button class="primary">${w.testClubCreate}</button>
</form>`
}`,
  })
}

function content(
  request: PageRequest,
  team: Team,
  { club, academy, provider, app, members, groups, quizzes, reviews }: TestClub,
) {
  const { w, at } = request
  return html`${
    reviews.length > 0 &&
    html`<h2>${w.reviews}</h2>
<p class="hint">${w.reviewsHint}</p>
${reviews.map((one) => review(request, team, one))}`
  }
<h2>${w.testMembers}</h2>
<p class="hint">${w.testMembersHint}</p>
${members.map((one) => renderMember(request, team, one))}
<h2>${w.organisations}</h2>
${list([club, academy, ...(provider ? [provider] : [])])}
${app && html`<p><a href="${at('teams', team.id, 'apps', app.id)}">${name(app.name)}</a> ${copyable(app.name, app.id)}</p>`}
<h2>${w.groups}</h2>
${list(groups)}
<h2>${w.quizzes}</h2>
${quizzes.map((quiz) => renderQuiz(request, quiz))}`
}

const list = (items: readonly Named[]) =>
  html`<ul class="entries">${items.map((one) => html`<li>${name(one.name)} ${copyable(one.name, one.id)}</li>`)}</ul>`

function renderMember(
  request: PageRequest,
  team: Team,
  { id: member, name: title, belongs, allows }: TestClub['members'][number],
) {
  const { w, at } = request
  const own = at('teams', team.id, 'test-club')
  const change = (change: 'profile' | 'left' | 'joined') =>
    html`<button name="change" value="${change}">${w.testChanges[change]}</button>`
  return html`<div class="entry">
<p>${name(title)} ${copyable(title, member)} ${!belongs && badge(w.testLeft, 'plain')}</p>
<form class="buttons" method="post" action="${own}/change">${changeForm.at(request, { member }).hidden('member')}
${belongs ? html`${change('profile')} ${change('left')}` : change('joined')}
</form>
${allows.map(
  ({ id: client, name: label, app }) => html`<form method="post" action="${own}/withdraw">
${withdrawForm.at(request, { member }).hidden('member')}${withdrawForm.at(request, { client }).hidden('client')}
<p>${w.testAllows(name(app === null ? label : `${app}, ${label}`))}</p>
<button>${w.testWithdraw(title)}</button>
</form>`,
)}
</div>
`
}

const renderQuiz = (
  { w }: PageRequest,
  { id, name: title, state, questions }: TestClub['quizzes'][number],
) => html`<details>
<summary>${name(title)} ${state !== 'released' && badge(w.quizState[state], 'plain')}</summary>
<p>${copyable(title, id)}</p>
<dl class="facts">${questions.map((question) =>
  fact(
    question.id,
    html`${name(question.text)}<br><span class="hint">${
      question.options.length > 0
        ? w.solution(question.options.join(', '), question.solution.join(', '))
        : w.openQuestion
    }</span>`,
  ),
)}</dl>
</details>
`

function review(
  request: PageRequest,
  team: Team,
  { result, quiz, member, submittedAt, answers }: TestClub['reviews'][number],
) {
  const { w, at, language } = request
  return html`<form class="entry" method="post" action="${at('teams', team.id, 'test-club')}/review">${reviewForm.at(request, { result }).hidden('result')}
<p>${name(quiz.name)}, ${name(member.name)}, ${formatMoment(submittedAt, language)}</p>
<dl>${answers.map(({ question, value }) => fact(question, value === null ? w.none : html`<code>${value}</code>`))}</dl>
<div class="buttons"><button name="correct" value="yes">${w.reviewCorrect}</button> <button name="correct" value="no">${w.reviewWrong}</button></div>
</form>
`
}

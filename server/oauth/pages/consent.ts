import type { Scope } from '../../../routers/scopes.ts'
import { html, name, strongName } from '../../pages/html.ts'
import type { Language } from '../../pages/language.ts'
import { document, troubled, words } from './layout.ts'
import { changes, kindOf, wordsOf } from './scope-words.ts'
import type { AppView, Named, Problem } from './views.ts'

export interface ConsentView {
  language: Language
  action: string
  app: AppView
  member: string
  organisations: Named[]
  /** The id of the organisation that the app requested or the member chose before. */
  chosen: string | null
  scopes: readonly Scope[]
  /** The host, or for native apps the scheme, of the redirect URI. */
  returnsTo: string
  problem?: Problem
}

export function consentPage(view: ConsentView): string {
  const { language, action, app, member, organisations, returnsTo, problem } = view
  const w = words[language]
  return document({
    language,
    title: w.consentTitle,
    heading: w.consentQuestion(name(app.name)),
    problem,
    body: html`<p class="lead">${w.by(strongName(app.team))}</p>
<p>${w.asks(strongName(member))}</p>
<form method="post" action="${action}/consent">
${noDefault}
${organisationField(view)}
${scopeFields(view)}
<div class="slip">
<p>${w.allowing(name(app.name))}</p>
<p>${w.goesBack(strongName(returnsTo))}</p>
<div class="decision">
${organisations.length > 0 && html`<button class="chief" name="decision" value="allow">${w.allow}</button>`}
<button name="decision" value="refuse">${w.refuse}</button>
</div>
</div>
</form>`,
  })
}

/**
 * Enter in a checkbox presses the form's first button, which would allow the app. This button comes first and does
 * nothing: its method `dialog` has no effect outside a dialog. (Chromium skips a disabled button.)
 */
const noDefault = html`<button formmethod="dialog" hidden></button>`

function organisationField({ language, organisations, chosen, scopes, problem }: ConsentView) {
  const kind = kindOf(scopes)
  const [first] = organisations
  if (!first) return null
  const { organisation, which } = words[language]
  if (organisations.length === 1) {
    return html`<p class="one">${organisation[kind]} ${strongName(first.name)}<input type="hidden" name="organisation" value="${first.id}"></p>`
  }
  const preset = organisations.some(({ id }) => id === chosen) ? chosen : first.id
  return html`<fieldset${troubled(problem, ['organisationMissing'])}>
<legend>${which[kind]}</legend>
${organisations.map(
  ({ id, name: text }) =>
    html`<label class="choice"><input type="radio" name="organisation" value="${id}" required${id === preset && html` checked`}>${name(text)}</label>`,
)}
</fieldset>`
}

function scopeFields({ language, scopes, problem }: ConsentView) {
  const w = words[language]
  const boxes = (asked: readonly Scope[]) =>
    asked.map(
      (scope) =>
        html`<label class="choice"><input type="checkbox" name="scope" value="${scope}" checked><span>${wordsOf(scope, language)}</span></label>`,
    )
  const seeing = scopes.filter((scope) => !changes(scope))
  const changing = scopes.filter(changes)
  const described = troubled(problem, ['scopesMissing'], 'untick')
  return html`<p class="hint" id="untick">${w.untick}</p>
${seeing.length > 0 && html`<fieldset${described}><legend>${w.sees}</legend>${boxes(seeing)}</fieldset>`}
${changing.length > 0 && html`<fieldset class="changing"${described}><legend>${w.changes}</legend>${boxes(changing)}</fieldset>`}`
}

import { isConsentScope, scopeWords } from '../../../routers/kernel/identity-scopes.ts'
import type { Language } from '../../browser/language.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { problemText } from './fields.ts'
import type { Form } from './form.ts'

export const wordsOf = (scope: string, language: Language) => (isConsentScope(scope) ? scopeWords(scope)[language] : '')

interface Choices {
  form: Form
  offered: readonly string[]
  ticked: readonly string[]
  legend?: Html
}

export function scopeChoices({ w, language }: Visit, { form, offered, ticked, legend }: Choices) {
  const problem = form.problemOf('scope')
  const options = offered.map(
    (
      scope,
      at,
    ) => html`<label class="choice"><input type="checkbox" name="scope" value="${scope}"${ticked.includes(scope) && html` checked`}${problem?.focus && at === 0 && html` autofocus`}>
<span>${wordsOf(scope, language)} <code>${scope}</code></span></label>
`,
  )
  return html`<fieldset aria-describedby="scopes-hint${problem && ' scopes-problem'}">
<legend>${legend ?? w.scopes}</legend>
<p class="hint" id="scopes-hint">${w.scopesHint}</p>
${problem && problemText('scopes', problem)}
${options}</fieldset>`
}

export const purposeFields = (
  { w, language }: Visit,
  form: Form,
  asked: readonly string[],
  purposeOf: (scope: string) => string,
) => html`<fieldset>
<legend>${w.purpose}</legend>
<p class="hint">${w.purposeHint}</p>
${asked.map((scope) =>
  form.field({
    id: `purpose-${scope}`,
    name: `purpose.${scope}`,
    maxlength: 1000,
    label: html`${wordsOf(scope, language)} <code>${scope}</code>`,
    value: purposeOf(scope),
  }),
)}</fieldset>`

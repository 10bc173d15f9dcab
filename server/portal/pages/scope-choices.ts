import { isScope, scopes } from '../../../routers/kernel/scopes.ts'
import type { Language } from '../../browser/language.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'

export const scopeWords = (scope: string, language: Language) => (isScope(scope) ? scopes[scope].words[language] : '')

interface Choices {
  offered: readonly string[]
  ticked: readonly string[]
  legend?: Html
}

export const scopeChoices = ({ w, language }: Visit, { offered, ticked, legend }: Choices) => html`<fieldset>
<legend>${legend ?? w.scopes}</legend>
<p class="hint">${w.scopesHint}</p>
${offered.map(
  (
    scope,
  ) => html`<label class="choice"><input type="checkbox" name="scope" value="${scope}"${ticked.includes(scope) && html` checked`}>
<span>${scopeWords(scope, language)} <code>${scope}</code></span></label>
`,
)}</fieldset>`

export const purposeFields = (
  { w, language }: Visit,
  asked: readonly string[],
  purposeOf: (scope: string) => string,
) => html`<fieldset>
<legend>${w.purpose}</legend>
<p class="hint">${w.purposeHint}</p>
${asked.map(
  (
    scope,
  ) => html`<div class="field"><label for="purpose-${scope}">${scopeWords(scope, language)} <code>${scope}</code></label>
<input id="purpose-${scope}" name="purpose.${scope}" maxlength="500" autocomplete="off" value="${purposeOf(scope)}"></div>
`,
)}</fieldset>`

import type { PageContext } from '../../../browser/page-context.ts'
import { html } from '../../../browser/pages/html.ts'
import { document, troubled } from '../../../browser/pages/layout.ts'
import type { Problem } from '../../../browser/pages/views.ts'

export interface DeviceView extends PageContext {
  action: string
  /** The first value of the field. */
  code: string
  problem?: Problem
}

export function devicePage({ action, code, problem, ...context }: DeviceView): string {
  const { w } = context
  return document({
    ...context,
    title: w.deviceTitle,
    problem,
    body: html`<p class="lead">${w.deviceLead}</p>
<form method="post" action="${action}">
<label for="user_code">${w.deviceCode}</label>
<p class="hint" id="user_code-hint">${w.deviceCodeHint}</p>
<input class="code" id="user_code" name="user_code" type="text" value="${code}" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" required autofocus${troubled(problem, ['deviceCodeWrong'], 'user_code-hint')}>
<button class="primary">${w.deviceContinue}</button>
</form>`,
  })
}

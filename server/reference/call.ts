import type { Section } from '../../routers/kernel/scopes.ts'
import type { Html } from '../browser/pages/html.ts'
import { codeHtml, html } from '../browser/pages/html.ts'
import type { Parameter, PathOperation } from './api-document.ts'
import { renderCode } from './code.js'
import { findExample } from './schema-text.ts'

export interface CallView {
  operation: PathOperation
  section: Section
  base: string
  /** Indented JSON. */
  body: string | undefined
}

const startValue = (parameter: Parameter) =>
  parameter.required ? String(findExample(parameter) ?? parameter.name) : ''
const readType = ({ schema }: Parameter) => schema?.type as string | undefined

/** The call with its examples. */
export const buildCall = ({
  operation: { operationId: id, method, path, parameters = [] },
  section,
  base,
  body,
}: CallView) => ({
  id,
  method,
  path,
  section,
  base,
  body,
  fields: parameters.map((one) => ({ name: one.name, in: one.in, value: startValue(one), type: readType(one) })),
})

const languages = [
  ['curl', 'curl'],
  ['fetch', 'fetch'],
  ['sdk', 'SDK'],
  ['trpc', 'tRPC'],
] as const

/** A tab for each language, without the script too; the script writes what the form contains. */
export function codeTabs(view: CallView): Html {
  const { operationId: id, summary } = view.operation
  const code = renderCode(buildCall(view))
  const shown = languages.filter(([language]) => code[language] !== undefined)
  return html`<div class="tabs" role="group" aria-label="Code: ${summary ?? id}">
${shown.map(([language, name]) => html`<label><input type="radio" name="code-${id}" value="${language}"${language === 'curl' && html` checked`}>${name}</label>`)}
${shown.map(([language]) => html`<div class="block" data-code="${language}"><pre><code>${codeHtml(code[language]!)}</code></pre></div>`)}</div>`
}

/** The script shows it, and adds what works with it alone. */
export const callForm = ({ operation: { method, path, summary, parameters = [] }, body }: CallView) =>
  html`<form hidden data-method="${method}" data-path="${path}">
<h3>Try it<span class="visually-hidden">: ${summary}</span></h3>
<div class="inputs">${parameters.map(input)}</div>
${body && html`<label>Body<textarea name="body" rows="${Math.min(body.split('\n').length, 12)}">${codeHtml(body)}</textarea></label>`}
<button class="primary">Send<span class="visually-hidden">: ${summary}</span></button>
</form>`

function input(parameter: Parameter) {
  const { name, in: place, required, schema } = parameter
  const type = readType(parameter)
  const values = type === 'boolean' ? [true, false] : schema?.enum
  const options = values?.map((value) => html`<option>${String(value)}</option>`)
  const typed = (type === 'integer' || type === 'boolean') && html` data-type="${type}"`
  const control = options
    ? html`<select name="${name}" data-in="${place}"${typed}><option></option>${options}</select>`
    : html`<input name="${name}" data-in="${place}" value="${startValue(parameter)}"${typed}${type === 'integer' && html` inputmode="numeric"`}${required && html` required`}>`
  return html`<label>${name} <small>${place}</small>${control}</label>`
}

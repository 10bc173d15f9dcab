import type { Section } from '../../routers/kernel/scopes.ts'
import { isScope, scopes } from '../../routers/kernel/scopes.ts'
import type { Html } from '../browser/pages/html.ts'
import { builtHtml, codeHtml, html } from '../browser/pages/html.ts'
import type { OperationCode } from '../docs/docs.ts'
import type { Parameter, PathOperation } from './api-document.ts'
import { listScopes } from './api-document.ts'
import { renderCode } from './code.js'
import type { Language } from './languages.ts'
import { languages } from './languages.ts'
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

/** What the build highlighted, and the language that the page has. */
export interface Written {
  language: Language
  /** Absent where the sources were changed after the build. */
  code: OperationCode | undefined
  /** Puts the addresses of this service in place of their marks. */
  fill: (marked: string) => string
  /** Names the API in the address of the page, at another one's host; else empty. */
  query?: string
}

/** The call in one language, with a link to the page in each of the others. The script writes what the form contains. */
export function codeExample(view: CallView, { language, code, fill, query }: Written): Html {
  const { operationId: id, summary } = view.operation
  const plain: Partial<Record<Language, string | undefined>> = renderCode(buildCall(view))
  const isWritten = (one: Language) => (code?.calls ?? plain)[one] !== undefined
  const [shown] = [language, 'javascript' as const].filter(isWritten)
  const choices = (Object.keys(languages) as Language[]).filter(
    (one) => isWritten(one) && (one !== 'trpc' || language === 'trpc'),
  )
  const text = code ? builtHtml(fill(code.calls[shown!]!)) : codeHtml(plain[shown!]!)
  return html`<div class="tabs" role="group" aria-label="Code: ${summary ?? id}">${choices.map((one) => html`<a href="?${query && `${query}&`}code=${one}#${id}"${one === shown && html` aria-current="true"`}>${languages[one]}</a>`)}</div>
<div class="block" data-code="${shown}"><pre tabindex="0"><code>${text}</code></pre></div>`
}

/** The script shows it, and adds what works with it alone. */
export const callForm = ({ operation, body }: CallView) => {
  const { method, path, summary, parameters = [] } = operation
  const [scope] = listScopes(operation).filter(isScope)
  return html`<form hidden data-method="${method}" data-path="${path}"${scope && html` data-kind="${scopes[scope].section}"`}>
<h3>Try it<span class="visually-hidden">: ${summary}</span></h3>
<div class="inputs">${parameters.map(input)}</div>
${body && html`<label>Body<textarea name="body" rows="${Math.min(body.split('\n').length, 12)}">${codeHtml(body)}</textarea></label>`}
<button class="primary">Send<span class="visually-hidden">: ${summary}</span></button>
</form>`
}

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

import type { Section } from '../../routers/kernel/scopes.ts'
import type { Html } from '../browser/pages/html.ts'
import { builtHtml, codeHtml, html } from '../browser/pages/html.ts'
import type { Parameter, PathOperation, Response } from './api-document.ts'
import { listScopes } from './api-document.ts'
import type { Written } from './call.ts'
import { callForm, codeExample } from './call.ts'
import { findJson, formatJson, readBody, readExamples } from './examples.ts'
import { breakable, verb } from './path.ts'
import type { Field } from './schema-text.ts'
import { formatType, listFields } from './schema-text.ts'

const inCode = (text: string, index: number) => (index % 2 === 1 ? html`<code>${text}</code>` : text)

/** Code in backticks; a paragraph for each block. */
export const prose = (text = '') =>
  text.split(/\n{2,}/).map((block) => block && html`<p>${block.split('`').map(inCode)}</p>`)

/** Errors and headers of every operation, which the page has once: a third of it otherwise. */
export interface Common {
  /** Whether there are any: not where there is one operation. */
  isAny: boolean
  /** With the same message everywhere, as the page finds an error by its message. */
  isError: (id: string, body: unknown) => boolean
  isHeader: (name: string) => boolean
}

interface Place {
  section: Section
  base: string
  common: Common
  written: Written
}

/** An operation's input and responses; beside them code, the response's example, and a form to try it, which needs the script. */
export function operationSection(operation: PathOperation, { section, base, common, written }: Place): Html {
  const { operationId, method, path, summary, description, parameters = [], requestBody, responses } = operation
  const content = findJson(requestBody?.content)
  const view = { operation, section, base, body: readBody(operation) }
  const scopes = listScopes(operation).filter((scope) => !description?.includes(scope))
  const answers = Object.entries(responses)
  const good = answers.filter(([status]) => status < '400')
  const failures = answers.filter(([status]) => status >= '400').map((answer) => failure(answer, common.isError))
  return html`<section class="operation" id="${operationId}">
<h2>${summary ?? operationId}</h2>
<p class="call"><code>${verb(method)} ${breakable(path)}</code></p>
<div class="about">
${prose(description)}
${scopes.map((scope) => html`<p>Requires the scope <code>${scope}</code>.</p>`)}
${list('Parameters', parameters.map(parameterField))}
${content?.schema && list('Body', listFields(content.schema))}
${good.map((answer) => success(answer, common.isHeader))}
<details><summary>Errors</summary><dl class="fields narrow">${failures}</dl>
${common.isAny && html`<p><a href="#common">Errors of every operation</a></p>`}</details>
</div>
<div class="use">
${codeExample(view, written)}
${readExamples(operation).map(([status, value]) => answerExample(status, value, written))}
${callForm(view)}
</div>
</section>`
}

export const parameterField = ({ name, in: place, required, description, schema }: Parameter): Field => {
  const preset = schema?.default !== undefined && `default ${schema.default}`
  const type = [place, schema && formatType(schema), preset, required && 'required'].filter(Boolean).join(', ')
  return { name, type, meaning: description ?? schema?.description }
}

export const headerFields = (headers: Record<string, Parameter>) =>
  Object.entries(headers).map(([name, header]) => parameterField({ ...header, name, in: 'header' }))

export const list = (title: string, fields: Field[]) =>
  fields.length > 0 && html`${title && html`<h3>${title}</h3>`}<dl class="fields">${fields.map(field)}</dl>`

const field = ({ name, type, meaning }: Field) =>
  html`<div><dt><code>${name}</code> <span class="hint">${type}</span></dt>${meaning && html`<dd>${prose(meaning)}</dd>`}</div>`

type Answer = [status: string, response: Response]

function success([status, { description, headers = {}, content }]: Answer, isCommon: Common['isHeader']) {
  const schema = findJson(content)?.schema
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !isCommon(name)))
  return html`<h3>Response ${status}</h3>${prose(description)}
${schema && list('', listFields(schema))}
${Object.keys(own).length > 0 && html`<details><summary>Headers (${status})</summary>${list('', headerFields(own))}</details>`}`
}

function answerExample(status: string, value: unknown, { code, fill }: Written) {
  const built = code?.answers[status]
  const text = built === undefined ? codeHtml(formatJson(value)) : builtHtml(fill(built))
  return html`<h3>Example (${status})</h3><div class="block"><pre tabindex="0"><code>${text}</code></pre></div>`
}

/** The names of a status' examples are ids of the catalogue; without examples its description has the messages. */
export function failure([status, { description, content }]: Answer, isHidden: Common['isError']) {
  const examples = Object.entries(findJson(content)?.examples ?? {})
  const links = examples
    .filter(([id, { value }]) => !isHidden(id, value))
    .map(([id, { value }]) => html`<a href="docs/errors#${id}">${readMessage(value)}</a>`)
  if (examples.length > 0 && links.length === 0) return ''
  const messages = description.split(' / ').map((message) => html`<p>${message}</p>`)
  return html`<div><dt><code>${status}</code></dt><dd>${links.length > 0 ? links : messages}</dd></div>`
}

export const readMessage = (body: unknown) => {
  const { detail, error } = body as { detail?: string; error?: { message: string } }
  return detail ?? error?.message
}

import type { Section } from '../../routers/kernel/scopes.ts'
import type { Html } from '../browser/pages/html.ts'
import { codeHtml, html } from '../browser/pages/html.ts'
import type { Content, Parameter, PathOperation, Response } from './api-document.ts'
import { listScopes } from './api-document.ts'
import { callForm, codeTabs } from './call.ts'
import type { Field } from './schema-text.ts'
import { findExample, formatType, listFields } from './schema-text.ts'

export const findJson = (content: Content = {}) => content['application/json']
const pretty = (value: unknown) => JSON.stringify(value, null, 2)
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
}

/** An operation's input and responses; beside them code, the response's example, and a form to try it, which needs the script. */
export function operationSection(operation: PathOperation, { section, base, common }: Place): Html {
  const { operationId, method, path, summary, description, parameters = [], requestBody, responses } = operation
  const content = findJson(requestBody?.content)
  const view = { operation, section, base, body: content && pretty(findExample(content) ?? {}) }
  const scopes = listScopes(operation).filter((scope) => !description?.includes(scope))
  const answers = Object.entries(responses)
  const good = answers.filter(([status]) => status < '400')
  const failures = answers.filter(([status]) => status >= '400').map((answer) => failure(answer, common.isError))
  return html`<section class="operation" id="${operationId}">
<h2>${summary ?? operationId}</h2>
<p class="call"><code><b>${method}</b> ${path}</code></p>
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
${codeTabs(view)}
${good.map(exampleBlock)}
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

function exampleBlock([status, { content }]: Answer) {
  const example = content && findExample(findJson(content) ?? {})
  return (
    example !== undefined &&
    html`<h3>Example (${status})</h3><div class="block"><pre><code>${codeHtml(pretty(example))}</code></pre></div>`
  )
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

import type { Html } from '../browser/pages/html.ts'
import { html } from '../browser/pages/html.ts'
import type { Content, Operation, Parameter, PathOperation } from './api-document.ts'
import { scopesOf } from './api-document.ts'
import { callForm, callLines } from './call.ts'
import type { Field } from './schema-text.ts'
import { exampleOf, fieldsOf, typeOf } from './schema-text.ts'

const jsonOf = (content: Content = {}) => content['application/json']
const pretty = (value: unknown) => JSON.stringify(value, null, 2)
const inCode = (text: string, index: number) => (index % 2 === 1 ? html`<code>${text}</code>` : text)

/** Code in backticks; a paragraph for each block. */
export const prose = (text = '') =>
  text.split(/\n{2,}/).map((block) => block && html`<p>${block.split('`').map(inCode)}</p>`)

/** An operation's input and responses, how to call it, and a form to try it, which needs the script. */
export function operationSection(operation: PathOperation, base: string): Html {
  const { operationId, method, path, summary, description, parameters = [], requestBody, responses } = operation
  const content = jsonOf(requestBody?.content)
  const call = { operation, base, body: content && pretty(exampleOf(content) ?? {}) }
  const scopes = scopesOf(operation).filter((scope) => !description?.includes(scope))
  const answers = Object.entries(responses)
  return html`<section class="operation" id="${operationId}">
<h2>${summary ?? operationId}</h2>
<p class="call"><code><b>${method}</b> ${path}</code></p>
${prose(description)}
${scopes.map((scope) => html`<p>Requires the scope <code>${scope}</code>.</p>`)}
${list('Parameters', parameters.map(parameterField))}
${content?.schema && list('Body', fieldsOf(content.schema))}
${answers.filter(([status]) => status < '400').map(success)}
<details><summary>Errors</summary><dl class="fields narrow">${answers.filter(([status]) => status >= '400').map(failure)}</dl></details>
${callLines(call)}
${callForm(call)}
</section>`
}

const parameterField = ({ name, in: place, required, description, schema }: Parameter): Field => {
  const preset = schema?.default !== undefined && `default ${schema.default}`
  const type = [place, schema && typeOf(schema), preset, required && 'required'].filter(Boolean).join(', ')
  return { name, type, meaning: description ?? schema?.description }
}

const list = (title: string, fields: Field[]) =>
  fields.length > 0 && html`${title && html`<h3>${title}</h3>`}<dl class="fields">${fields.map(field)}</dl>`

const field = ({ name, type, meaning }: Field) =>
  html`<div><dt><code>${name}</code> <span class="hint">${type}</span></dt>${meaning && html`<dd>${prose(meaning)}</dd>`}</div>`

type Answer = [string, Operation['responses'][string]]

function success([status, { description, headers = {}, content }]: Answer) {
  const json = jsonOf(content)
  const fields = Object.entries(headers).map(([name, header]) => parameterField({ ...header, name, in: 'header' }))
  return html`<h3>Response ${status}</h3>${prose(description)}
${json?.schema && list('', fieldsOf(json.schema))}
${json && exampleOf(json) !== undefined && html`<pre><code>${pretty(exampleOf(json))}</code></pre>`}
${fields.length > 0 && html`<details><summary>Headers (${status})</summary>${list('', fields)}</details>`}`
}

/** The names of a status' examples are ids of the catalogue; without examples its description has the messages. */
function failure([status, { description, content }]: Answer) {
  const links = Object.entries(jsonOf(content)?.examples ?? {}).map(
    ([id, { value }]) => html`<a href="docs/errors#${id}">${messageOf(value)}</a>`,
  )
  const messages = description.split(' / ').map((message) => html`<p>${message}</p>`)
  return html`<div><dt><code>${status}</code></dt><dd>${links.length > 0 ? links : messages}</dd></div>`
}

const messageOf = (body: unknown) => {
  const { detail, error } = body as { detail?: string; error?: { message: string } }
  return detail ?? error?.message
}

import { html } from '../browser/pages/html.ts'
import type { Parameter, PathOperation } from './api-document.ts'
import { exampleOf } from './schema-text.ts'

interface Call {
  operation: PathOperation
  base: string
  body: string | undefined
}

const startValue = (parameter: Parameter) => (parameter.required ? String(exampleOf(parameter) ?? parameter.name) : '')

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Lines to copy. The script replaces the spans with the form's values. */
export function callLines({ operation: { method, path, parameters = [] }, base, body }: Call) {
  const filled = parameters.reduce(
    (text, one) => text.replace(`{${one.name}}`, encodeURIComponent(startValue(one))),
    path,
  )
  const url = html`<span data-line="url">'${base}${filled}'</span>`
  return html`<details><summary>curl</summary><pre><code>curl -X ${method} ${url} \\
  -H "Authorization: Bearer $TOKEN"<span data-line="curl">${body && ` \\\n  -H 'content-type: application/json' -d ${quoted(body)}`}</span></code></pre></details>
<details><summary>fetch</summary><pre><code>const response = await fetch(${url}, {
  method: '${method}',
  headers: { authorization: \`Bearer \${token}\`<span data-line="headers">${body && `, 'content-type': 'application/json'`}</span> },<span data-line="body">${body && `\n  body: JSON.stringify(${body}),`}</span>
})</code></pre></details>`
}

export const callForm = ({ operation: { method, path, summary, parameters = [] }, body }: Call) =>
  html`<form hidden data-method="${method}" data-path="${path}">
<h3>Try it<span class="unseen">: ${summary}</span></h3>
<div class="inputs">${parameters.map(input)}</div>
${body && html`<label>Body<textarea name="body" rows="${Math.min(body.split('\n').length, 12)}" spellcheck="false">${body}</textarea></label>`}
<button class="chief">Send<span class="unseen">: ${summary}</span></button>
<div class="answer" role="status"></div>
</form>`

function input(parameter: Parameter) {
  const { name, in: place, required, schema } = parameter
  const options = schema?.enum?.map((value) => html`<option>${String(value)}</option>`)
  const control = options
    ? html`<select name="${name}" data-in="${place}"><option></option>${options}</select>`
    : html`<input name="${name}" data-in="${place}" value="${startValue(parameter)}" autocomplete="off" spellcheck="false" ${required && html`required`}>`
  return html`<label>${name} <span class="hint">${place}</span>${control}</label>`
}

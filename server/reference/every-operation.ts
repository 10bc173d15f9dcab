import { html } from '../browser/pages/html.ts'
import type { PathOperation } from './api-document.ts'
import type { Common } from './operation.ts'
import { failure, headerFields, jsonOf, list, messageOf } from './operation.ts'

const answersOf = ({ responses }: PathOperation) => Object.entries(responses)
const nameOf = (id: string, body: unknown) => `${id} ${messageOf(body)}`
const errorsOf = (operation: PathOperation) =>
  answersOf(operation)
    .filter(([status]) => status >= '400')
    .flatMap(([, { content }]) =>
      Object.entries(jsonOf(content)?.examples ?? {}).map(([id, { value }]) => nameOf(id, value)),
    )
const headersOf = (operation: PathOperation) =>
  answersOf(operation)
    .filter(([status]) => status < '400')
    .flatMap(([, { headers = {} }]) => Object.keys(headers))

const inAll = ([first = [], ...others]: string[][]) =>
  others.length === 0 ? [] : first.filter((name) => others.every((names) => names.includes(name)))

export function commonOf(operations: readonly PathOperation[]): Common {
  const errors = new Set(inAll(operations.map(errorsOf)))
  const headers = new Set(inAll(operations.map(headersOf)))
  return {
    isAny: errors.size > 0,
    isError: (id, body) => errors.has(nameOf(id, body)),
    isHeader: (name) => headers.has(name),
  }
}

/** The first operation has them all. */
export function commonSection([operation]: readonly PathOperation[], { isAny, isError, isHeader }: Common) {
  if (!isAny) return ''
  const answers = answersOf(operation!)
  const headers = answers.flatMap(([, { headers = {} }]) => Object.entries(headers))
  const common = Object.fromEntries(headers.filter(([name]) => isHeader(name)))
  return html`<section class="operation" id="common">
<h2>Every operation</h2>
<div class="about">
${list('Response headers', headerFields(common))}
<h3>Errors</h3>
<dl class="fields narrow">${answers
    .filter(([status]) => status >= '400')
    .map((answer) => failure(answer, (id, body) => !isError(id, body)))}</dl>
</div>
</section>`
}

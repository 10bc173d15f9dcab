import { html } from '../browser/pages/html.ts'
import type { PathOperation } from './api-document.ts'
import { findJson } from './examples.ts'
import type { Common } from './operation.ts'
import { failure, headerFields, list, readMessage } from './operation.ts'

const listResponses = ({ responses }: PathOperation) => Object.entries(responses)
const formatName = (id: string, body: unknown) => `${id} ${readMessage(body)}`
const listErrors = (operation: PathOperation) =>
  listResponses(operation)
    .filter(([status]) => status >= '400')
    .flatMap(([, { content }]) =>
      Object.entries(findJson(content)?.examples ?? {}).map(([id, { value }]) => formatName(id, value)),
    )
const listHeaders = (operation: PathOperation) =>
  listResponses(operation)
    .filter(([status]) => status < '400')
    .flatMap(([, { headers = {} }]) => Object.keys(headers))

const inAll = ([first = [], ...others]: string[][]) =>
  others.length === 0 ? [] : first.filter((name) => others.every((names) => names.includes(name)))

export function findCommon(operations: readonly PathOperation[]): Common {
  const errors = new Set(inAll(operations.map(listErrors)))
  const headers = new Set(inAll(operations.map(listHeaders)))
  return {
    isAny: errors.size > 0,
    isError: (id, body) => errors.has(formatName(id, body)),
    isHeader: (name) => headers.has(name),
  }
}

/** The first operation has them all. */
export function commonSection([operation]: readonly PathOperation[], { isAny, isError, isHeader }: Common) {
  if (!isAny) return ''
  const answers = listResponses(operation!)
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

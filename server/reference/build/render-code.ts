import type { Section } from '../../../routers/kernel/scopes.ts'
import { markAddresses } from '../../docs/addresses.ts'
import { highlighted } from '../../docs/build/highlight.ts'
import type { OperationCode, ReferenceCode } from '../../docs/docs.ts'
import type { PathOperation } from '../api-document.ts'
import { listOperations, resolved } from '../api-document.ts'
import { buildCall } from '../call.ts'
import { renderCode } from '../code.js'
import { formatJson, readBody, readExamples } from '../examples.ts'
import { libraryCode } from './library-code.ts'

/** The grammar of each language, as a fence of the documentation names it. */
const grammars: Record<string, string> = { curl: 'sh', javascript: 'ts', sdk: 'ts', trpc: 'ts' }

/** Calls and answers of all operations, with classes around their words, and marks for the addresses of the service. */
export const renderReferenceCode = (documents: Readonly<Record<Section, object>>): ReferenceCode =>
  Object.fromEntries(
    (Object.entries(documents) as [Section, object][]).map(([section, document]) => [
      section,
      Object.fromEntries(
        listOperations(resolved(document)).map((one) => [one.operationId, renderOperation(section, one)]),
      ),
    ]),
  )

function renderOperation(section: Section, operation: PathOperation): OperationCode {
  const host = `http://${section}.localhost`
  const call = buildCall({ operation, section, base: `${host}:3000/v1`, body: readBody(operation) })
  // The library repeats a port beside the address.
  const written = libraryCode({ ...call, base: `${host}/v1` }, (code) => code.replace(`${host}/v1`, call.base))
  const calls = Object.entries({ ...renderCode(call), ...written }).flatMap(([language, code]) =>
    code === undefined ? [] : [[language, highlight(code, grammars[language] ?? language)]],
  )
  const answers = readExamples(operation).map(([status, value]) => [status, highlight(formatJson(value), 'json')])
  return { calls: Object.fromEntries(calls), answers: Object.fromEntries(answers) }
}

const highlight = (code: string, language: string) => highlighted(markAddresses(code), language).text

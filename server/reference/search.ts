import { errorCatalogue } from '../../routers/kernel/errors.ts'
import type { SearchSection } from '../browser/docs-layout/search-index.ts'
import { searchIndex } from '../browser/docs-layout/search-index.ts'
import type { ApiDocument, PathOperation } from './api-document.ts'
import { listErrorSchemas, listOperations, listScopes } from './api-document.ts'
import { findJson, headerFields, parameterField } from './operation.ts'
import type { Field } from './schema-text.ts'
import { listFields } from './schema-text.ts'

/** The kinds of results, with the page of each. */
const pages: [address: string, title: string][] = [
  ['../docs', 'Operation'],
  ['errors', 'Error'],
  ['../docs', 'Schema'],
  ['../docs', 'Parameter'],
  ['../docs', 'Field'],
  ['../docs', 'Header'],
]

/** Operations first, as equally good results stay in this order. */
export function referenceIndex(api: ApiDocument): string {
  const operations = listOperations(api)
  const named = operations.map((operation) => ({
    page: 0,
    id: operation.operationId,
    heading: `${operation.method} ${operation.path} · ${operation.summary ?? operation.operationId}`,
    text: [operation.description, ...listScopes(operation)].join(' '),
  }))
  const errors = errorCatalogue().map(({ id, error, cause, fix }) => ({
    page: 1,
    id,
    heading: `${error.status} ${id} · ${error.message}`,
    text: `${error.publicCode} ${cause} ${fix}`,
  }))
  const schemas = listErrorSchemas(api).map(([name, schema]) => ({
    page: 2,
    id: `schema-${name}`,
    heading: name,
    text: [schema.description, ...listFields(schema).map(searchText)].join(' '),
  }))
  return searchIndex(pages, [...named, ...errors, ...schemas, ...operations.flatMap(fieldSections)])
}

const searchText = ({ name, meaning }: Field) => `${name} ${meaning ?? ''}`

/** Parameters, and the headers and fields of bodies, once of each kind. */
function fieldSections({
  operationId: id,
  method,
  path,
  parameters = [],
  requestBody,
  responses,
}: PathOperation): SearchSection[] {
  const good = Object.entries(responses).flatMap(([status, response]) => (status < '400' ? response : []))
  const fields = [requestBody, ...good].flatMap((body) => {
    const schema = findJson(body?.content)?.schema
    return schema ? listFields(schema) : []
  })
  const headers = good.flatMap(({ headers = {} }) => headerFields(headers))
  const groups: [page: number, fields: Field[]][] = [
    [3, parameters.map(parameterField)],
    [4, fields],
    [5, headers],
  ]
  return groups.flatMap(([page, some]) =>
    [...new Map(some.map((field) => [field.name, field])).values()].map(({ name, meaning = '' }) => ({
      page,
      id,
      text: meaning,
      heading: `${name} · ${method} ${path}`,
    })),
  )
}

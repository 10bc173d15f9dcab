import type { AnyProcedure } from '@trpc/server'
import { refusalsOf } from '../routers/authorize.ts'
import type { ApiError } from '../routers/errors.ts'
import { errors } from '../routers/errors.ts'
import type { Meta } from '../routers/meta.ts'
import type { Section } from '../routers/scopes.ts'
import { usesDetail } from './envelope.ts'

export type Json = Record<string, unknown>

export interface Parameter {
  in: 'path' | 'query' | 'header'
  name: string
  required?: boolean
  schema?: Json
}

export interface Operation {
  operationId: string
  responses: Record<string, Json & { content?: { 'application/json': { schema: ObjectSchema } } }>
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: { 'application/json': { schema: ObjectSchema } } }
  security?: Json[]
}

interface ObjectSchema {
  properties: Record<string, Json>
  required?: string[]
  additionalProperties?: boolean
}

interface Procedure {
  procedure: AnyProcedure
  meta: Meta
}

/**
 * Completes an operation from its endpoint's row. trpc-to-openapi knows no status but 200, no error bodies of ours, no
 * query of a PUT, and no header whose name differs from its field.
 */
export function completeOperation(operation: Operation, { procedure, meta }: Procedure) {
  const { scope, status = 200 } = meta
  takeHeadersAndQuery(operation, meta)
  const success =
    status === 204 ? { description: 'Done; no body.' } : withResponseHeaders(operation.responses['200']!, meta)
  operation.responses = { [status]: success }
  for (const [code, sentences] of failuresOf(operation, procedure, meta)) {
    operation.responses[code] = failure(meta.policy.requires.section, code, sentences)
  }
  operation.security = [{ bearer: scope ? [scope] : [] }]
}

/** Moves what the row takes from a header, or a PUT from the query, out of the body; drops a body that has no fields. */
function takeHeadersAndQuery(operation: Operation, { headers = {}, query = [], raw }: Meta) {
  const parameters = operation.parameters ?? []
  for (const parameter of parameters) {
    const header = headers[parameter.name]
    if (header) Object.assign(parameter, { in: 'header', name: header })
  }
  const schema = operation.requestBody?.content['application/json'].schema
  if (!schema) return
  for (const key of query) parameters.push({ in: 'query', name: key, required: false, schema: take(schema, key) })
  for (const [key, name] of Object.entries(headers)) {
    parameters.push({ in: 'header', name, required: false, schema: take(schema, key) })
  }
  operation.parameters = parameters
  if (Object.keys(schema.properties).length === 0) delete operation.requestBody
  else if (raw) schema.additionalProperties = false
  else delete schema.additionalProperties
}

/** Removes a field from an object schema and returns its schema. */
function take(schema: ObjectSchema, key: string): Json {
  const { [key]: taken, ...rest } = schema.properties
  schema.properties = rest
  if (schema.required) schema.required = schema.required.filter((name) => name !== key)
  return taken!
}

/** Output fields that leave as headers are no part of the body. */
function withResponseHeaders(response: Operation['responses'][string], { responseHeaders = {} }: Meta) {
  const entries = Object.entries(responseHeaders).map(([key, name]) => {
    const schema = take(response.content!['application/json'].schema, key)
    return [name, { schema }] as const
  })
  return entries.length === 0 ? response : { ...response, headers: Object.fromEntries(entries) }
}

/** The sentences of an operation's errors by status: of its policy, of its input, and of its own row. */
function failuresOf(operation: Operation, procedure: AnyProcedure, meta: Meta): Map<number, string[]> {
  const { policy, fails = [] } = meta
  const found: ApiError[] = [...refusalsOf(meta, 'the service'), errors.unavailable()]
  if (policy.requires.section === 'apps' && policy.requires.app) found.push(errors.nameInvalid(), errors.scopeInvalid())
  else if (operation.parameters?.some((parameter) => parameter.in !== 'header')) {
    found.push(errors.inputInvalid(procedure._def.type === 'query' ? 422 : 400, 'The request does not fit.'))
  }
  if (operation.requestBody) found.push(errors.bodyNotJson(), errors.typeWrong())
  found.push(...fails.map((name) => errors[name]()))

  const byStatus = new Map<number, string[]>()
  for (const { status, message } of found) byStatus.set(status, [...(byStatus.get(status) ?? []), message])
  return byStatus
}

function failure(section: Section, status: number, sentences: string[]): Json {
  const shape = usesDetail(section, status) ? 'Detail' : 'Error'
  return {
    description: [...new Set(sentences)].join(' / '),
    ...(status === 429 && {
      headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } },
    }),
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${shape}` } } },
  }
}

import { generateOpenApiDocument } from 'trpc-to-openapi'
import type { ApiError } from '../routers/errors.ts'
import { errors } from '../routers/errors.ts'
import { appRouter } from '../routers/index.ts'
import type { Meta, Section } from '../routers/trpc.ts'
import type { Route } from './routes.ts'
import { routes } from './routes.ts'
import { sections } from './sections.ts'

type Json = Record<string, unknown>
interface Operation {
  responses: Record<string, Json>
  parameters?: Json[]
  requestBody?: { required?: boolean; content: { 'application/json': { schema: BodySchema } } }
  security?: Json[]
}
interface BodySchema {
  properties: Record<string, Json>
  required?: string[]
  additionalProperties?: boolean
}

const text = { type: 'string' }
const object = (properties: Json, required = Object.keys(properties)) => ({ type: 'object', properties, required })
const schemas = {
  Detail: object({ detail: text }),
  Error: object({
    error: object({ code: text, message: text, request_id: text, reason: text }, ['code', 'message', 'request_id']),
  }),
}

/**
 * The OpenAPI 3.1 document of one API. trpc-to-openapi writes it; it knows one status, its own error bodies and no query
 * on PUT, so what the endpoint's row says beyond that is put in afterwards.
 */
export function openApiDocument(section: Section, baseUrl: string) {
  const { title, description } = sections[section]
  const document = generateOpenApiDocument<Meta>(appRouter, {
    title,
    description,
    version: '1',
    baseUrl,
    filter: ({ metadata }) => metadata.audience.section === section,
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  }) as unknown as { paths: Record<string, Record<string, Operation>>; components: { schemas?: Json } }

  document.components.schemas = section === 'apps' ? schemas : { Error: schemas.Error }
  for (const route of routes.filter((one) => one.section === section)) {
    complete(document.paths[route.path]![route.method.toLowerCase()]!, route)
  }
  return document
}

function complete(operation: Operation, route: Route) {
  const { meta, section } = route
  const status = meta.status ?? 200
  const success = status === 204 ? { description: 'Done; no body.' } : operation.responses['200']!
  operation.responses = { [status]: success }
  for (const [code, sentences] of failuresOf(route)) operation.responses[code] = failure(section, code, sentences)
  operation.security = [{ bearer: meta.scope ? [meta.scope] : [] }]

  const body = operation.requestBody?.content['application/json'].schema
  if (body && route.fromBody.size > 0) {
    moveOut(operation, body, route.fromQuery, (key) => ({ in: 'query', name: key }))
    moveOut(operation, body, new Set(Object.keys(meta.headers ?? {})), (key) => ({
      in: 'header',
      name: meta.headers![key],
    }))
    if (meta.raw) body.additionalProperties = false
    else delete body.additionalProperties
  } else {
    delete operation.requestBody
    for (const parameter of operation.parameters ?? []) {
      const header = meta.headers?.[parameter.name as string]
      if (header) Object.assign(parameter, { in: 'header', name: header })
    }
  }
}

/** What the library took for a field of the body, as the parameter that it is. */
function moveOut(operation: Operation, body: BodySchema, keys: ReadonlySet<string>, place: (key: string) => Json) {
  for (const key of keys) {
    const { [key]: schema, ...rest } = body.properties
    operation.parameters = [...(operation.parameters ?? []), { ...place(key), required: false, schema }]
    body.properties = rest
    if (body.required) body.required = body.required.filter((name) => name !== key)
  }
}

/** The errors that an endpoint answers with, by status: of its gate, its input, and its own row. */
function failuresOf({ meta, method, parameters, fromQuery, fromBody, procedure }: Route): Map<number, string[]> {
  const { section, level, app, memberOf } = meta.audience
  const inputStatus = procedure._def.type === 'query' ? 422 : 400
  const found: ApiError[] = [errors.tokenInvalid(), errors.tokenExpired(), errors.rateLimited(60), errors.unavailable()]
  if (meta.scope) found.push(errors.scopeMissing(meta.scope))
  if (level) found.push(errors.levelTooLow())
  if (app) found.push(errors.clientNotApp('the service'))
  if (memberOf) found.push(errors.memberUnknown(memberOf))
  if (section === 'apps' && app) found.push(errors.nameInvalid(), errors.scopeInvalid())
  else if (fromQuery.size > 0 || parameters.some((key) => key !== ''))
    found.push(errors.inputInvalid(inputStatus, 'The request does not fit.'))
  if (method !== 'GET' && fromBody.size > 0) found.push(errors.bodyNotJson(), errors.typeWrong())
  found.push(...(meta.fails ?? []).map((name) => errors[name]()))

  const byStatus = new Map<number, string[]>()
  for (const { status, message } of found) byStatus.set(status, [...(byStatus.get(status) ?? []), message])
  return byStatus
}

function failure(section: Section, status: number, sentences: string[]): Json {
  const shape = section === 'apps' && ![401, 429, 503].includes(status) ? 'Detail' : 'Error'
  return {
    description: [...new Set(sentences)].join(' / '),
    ...(status === 429 && {
      headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } },
    }),
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${shape}` } } },
  }
}

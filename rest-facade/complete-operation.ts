import type { Meta } from '../routers/kernel/meta.ts'
import { bodyExample, liftExample, tidy } from './openapi-examples.ts'
import { listFailures } from './openapi-failures.ts'
import { describeHeaders, usageHeaders } from './openapi-headers.ts'
import { listInputErrors } from './openapi-input.ts'
import type { Json, ObjectSchema, Operation, Parameter, Place, Procedure, Response } from './openapi-operation.ts'

/**
 * Completes an operation from its endpoint's row. trpc-to-openapi knows no status but 200, no error bodies of ours, no
 * query of a PUT, and no header whose name differs from its field.
 */
export function completeOperation(operation: Operation, { procedure, meta }: Procedure, place: Place) {
  const { scope, status = 200, returns } = meta
  takeHeadersAndQuery(operation, meta)
  const names = [...Object.values(meta.responseHeaders ?? {}), ...usageHeaders(status, meta)]
  const success: Response = { description: returns!, headers: describeHeaders(true, names) }
  if (status !== 204) {
    const schema = operation.responses['200']!.content!['application/json'].schema as ObjectSchema
    for (const key of Object.keys(meta.responseHeaders ?? {})) take(schema, key)
    const example = bodyExample(schema)
    success.content = { 'application/json': { schema: tidy(schema), examples: toSample(example) } }
    if (meta.file) success.content = toFile(meta.file.type)
    if (meta.stream) success.content['text/event-stream'] = toEvents(example)
  }
  const failures = listFailures({ operation, meta, place, inputErrors: listInputErrors(procedure) })
  operation.responses = { [status]: success }
  if (place.method === 'GET') operation.responses['304'] = unchanged(meta)
  Object.assign(operation.responses, Object.fromEntries(failures))
  // Generators take the first.
  operation.security = [{ bearer: [] }, ...waysToGetTokens(meta).map((way) => ({ [way]: scope ? [scope] : [] }))]
  if (scope) operation.description += `\n\nNeeds the scope \`${scope}\`.`
}

/** The security schemes of the document by which an app gets a token for the operation. */
function waysToGetTokens({ policy }: Meta) {
  const { appItself } = policy.requires
  if (appItself === 'required') return ['app']
  return appItself === 'allowed' ? ['member', 'app'] : ['member']
}

const toFile = (type: string) =>
  ({ [type]: { schema: { type: 'string', format: 'binary' } } }) as unknown as Response['content'] & object

/** Not as `example`: Postman takes one with a field `value` for that field. */
const toSample = (value: unknown) => ({ sample: { value } })

/** The items of a page, each an event. */
function toEvents(page: unknown) {
  const { items, cursor } = page as { items: unknown[]; cursor: string }
  const example = items.map((item) => `id: ${cursor}\ndata: ${JSON.stringify(item)}\n\n`).join('')
  return { schema: { type: 'string', description: 'Server-sent events: `data` is one change.' }, example }
}

const unchanged = ({ responseHeaders }: Meta): Response => ({
  headers: describeHeaders(true, Object.values(responseHeaders ?? {})),
  description: responseHeaders
    ? 'The entry is still the one of `If-None-Match`; no body.'
    : 'No body: the request had `If-None-Match: *`. This resource has no ETag.',
})

/** Moves what the row takes from a header, or a PUT from the query, out of the body; drops a body that has no fields. */
function takeHeadersAndQuery(operation: Operation, { headers = {}, query = [], responseHeaders, raw, rawItems }: Meta) {
  const only = raw ?? rawItems?.list
  const parameters = operation.parameters ?? []
  const schema = operation.requestBody?.content['application/json'].schema
  if (schema) {
    for (const key of query) parameters.push({ in: 'query', name: key, required: false, schema: take(schema, key) })
    for (const [key, name] of Object.entries(headers)) {
      parameters.push({ in: 'header', name, required: false, schema: take(schema, key) })
    }
  }
  for (const parameter of parameters) {
    const header = headers[parameter.name]
    if (header) Object.assign(parameter, { in: 'header', name: header })
  }
  if (!schema && responseHeaders) parameters.push(ifNoneMatch)
  if (parameters.length > 0) operation.parameters = parameters.map(liftExample)
  if (!schema) return
  if (Object.keys(schema.properties).length === 0) delete operation.requestBody
  else if (only) schema.additionalProperties = false
  else delete schema.additionalProperties
  if (operation.requestBody) {
    operation.requestBody.description = only ? `A JSON object with the one field \`${only}\`.` : 'A JSON object.'
    operation.requestBody.content['application/json'] = {
      schema: tidy(schema),
      examples: toSample(bodyExample(schema)),
    }
  }
}

const ifNoneMatch: Parameter = {
  in: 'header',
  name: 'If-None-Match',
  required: false,
  schema: {
    type: 'string',
    description: 'Known ETags: if the entry still has one of them, the response is 304 without a body.',
  },
}

/** Removes a field from an object schema and returns its schema. */
function take(schema: ObjectSchema, key: string): Json {
  const { [key]: taken, ...rest } = schema.properties
  schema.properties = rest
  if (schema.required) schema.required = schema.required.filter((name) => name !== key)
  return taken as Json
}

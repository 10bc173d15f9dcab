import { listRefusals } from '../routers/kernel/authorize.ts'
import type { ApiError } from '../routers/kernel/errors.ts'
import { errors, nameOperation } from '../routers/kernel/errors.ts'
import type { Meta } from '../routers/kernel/meta.ts'
import { findSection } from '../routers/kernel/meta.ts'
import { envelope, usesDetail } from './envelope.ts'
import { describeHeaders, headers, usageHeaders, usageOfSome } from './openapi-headers.ts'
import type { Example, Operation, Place, Response } from './openapi-operation.ts'

/** Stand for the brand and the host of the API, which each service fills in. */
export const BRAND = '<brand>'
export const HOST = '<host>'

interface Failing {
  operation: Operation
  meta: Meta
  place: Place
  inputErrors: readonly ApiError[]
}

/** `inApi`: in the envelope of the API; Node's own refusals are in the common one. `counted`: for the request quota. */
interface Failure {
  status: number
  error: ApiError
  inApi: boolean
  counted: boolean
}

/** The error responses of an operation by status, with an example for each row of the catalogue. */
export function listFailures(failing: Failing): [status: string, Response][] {
  const byStatus = new Map<number, Failure[]>()
  for (const failure of [...beforeTheCount(failing), ...counted(failing)]) {
    byStatus.set(failure.status, [...(byStatus.get(failure.status) ?? []), failure])
  }
  return [...byStatus].map(([status, failures]) => [String(status), buildResponse(status, failures, failing.meta)])
}

const descriptions: Readonly<Record<number, string>> = {
  400: 'The request is malformed or invalid.',
  401: 'The token is missing, unknown or expired.',
  403: 'The token, its client or its team is not allowed to do this.',
  404: 'Not found, or the host belongs to another API.',
  405: 'This address does not allow the method.',
  408: 'The request arrived too slowly.',
  409: 'The current state does not allow the change, or the `Idempotency-Key` came with another request.',
  410: 'The changes after the cursor are no longer stored.',
  412: 'A precondition of the request failed; nothing was changed.',
  413: 'The body is too large, or the storage quota is exceeded; nothing was changed.',
  415: 'The body has the wrong content type, or is compressed.',
  417: 'The request has an `Expect` header that the service does not support.',
  422: 'A parameter has the wrong type, or is out of range.',
  429: 'The request quota, or another limit, is exhausted.',
  431: 'The head of the request is larger than 16 KiB.',
  500: 'An error in this service, which is in its log with the request id.',
  503: 'The service is overloaded, or cannot reach its database. The same request will succeed later.',
}

/** What Node refuses before there is a request: a head that is no HTTP, comes too slowly, expects something, or is too large. */
const PARSER_STATUSES = [400, 408, 417, 431]

function beforeTheCount({ place: { methods } }: Failing): Failure[] {
  const allow = methods.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
  const found = [
    errors.requestInvalid(),
    errors.hostWrong(HOST),
    errors.methodWrong(allow),
    errors.tokenMissing(),
    errors.tokenInvalid(),
    errors.tokenExpired(),
    errors.failuresLimited(60),
  ]
  return [
    ...PARSER_STATUSES.map((status) => ({ status, error: errors.requestInvalid(), inApi: false, counted: false })),
    ...found.map((error) => ({ status: error.status, error, inApi: true, counted: false })),
  ]
}

function counted({ operation, meta, inputErrors }: Failing): Failure[] {
  const found = [errors.rateLimited(60), ...listRefusals(meta, BRAND), ...inputErrors]
  if (operation.requestBody) {
    found.push(errors.typeWrong(), errors.bodyNotJson(), errors.bodyTooSlow())
    if (!meta.raw && !meta.rawItems) found.push(errors.bodyNotObject(), errors.bodyTooDeep(), errors.bodyTooLarge())
  }
  found.push(...(meta.fails ?? []).map((name) => errors[name]()))
  found.push(...(meta.operationFails ?? []).map((name) => nameOperation(0, errors[name]())))
  if (meta.takesKey) found.push(errors.idempotencyMismatch(), errors.keysLimited(3600))
  if (meta.audited) found.push(errors.changesLimited(60))
  if (meta.insertsRow) found.push(errors.tokenInvalid())
  // Without a scope there is nothing behind the count that could fail.
  const faults = [errors.internal(undefined), errors.unavailable()].map((error) => ({
    error,
    counted: meta.scope !== null,
  }))
  return [...found.map((error) => ({ error, counted: true })), ...faults].map((one) => ({
    ...one,
    status: one.error.status,
    inApi: true,
  }))
}

function buildResponse(status: number, failures: readonly Failure[], meta: Meta): Response {
  const section = findSection(meta)
  const shapes = new Set<string>()
  const examples: Record<string, Example> = {}
  for (const { error, inApi } of failures) {
    const of = inApi ? section : null
    shapes.add(usesDetail(of, status) ? 'Detail' : 'ApiError')
    examples[error.id] = { value: envelope(error, of, headers['X-Request-Id'].example) }
  }
  const references = [...shapes].sort().map((name) => ({ $ref: `#/components/schemas/${name}` }))
  const schema = references.length === 1 ? references[0]! : { oneOf: references }
  const names = new Set(failures.flatMap(({ error }) => Object.keys(error.headers)))
  return {
    description: descriptions[status]!,
    headers: {
      ...describeHeaders(
        failures.some((failure) => failure.counted),
        ['X-Error-Code', 'Link', ...names, ...usageHeaders(status, meta)],
      ),
      ...usageOfSome(status, meta),
    },
    content: { 'application/json': { schema, examples } },
  }
}

import { headers } from './openapi-headers.ts'
import type { Json, Operation } from './openapi-operation.ts'

interface Envelope {
  detail?: string
  error?: { code: string; reason?: string }
}

/** The schemas of error bodies, with the codes and reasons that the examples of these operations have. */
export function errorSchemas(operations: readonly Operation[]): Json {
  const bodies = operations
    .flatMap(({ responses }) => Object.entries(responses))
    .filter(([status]) => status >= '400')
    .flatMap(([, { content }]) => Object.values(content?.['application/json'].examples ?? {}))
    .map(({ value }) => value as Envelope)
  const distinct = (values: (string | undefined)[]) => [...new Set(values)].filter((one) => one !== undefined).sort()
  const codes = distinct(bodies.map(({ error }) => error?.code))
  const reasons = distinct(bodies.map(({ error }) => error?.reason))
  const error = {
    code: { type: 'string', enum: codes, description: 'The kind of error.', examples: [codes[0]] },
    message: {
      type: 'string',
      description: 'The error in one sentence.',
      examples: ['This token has expired.'],
    },
    request_id: { ...headers['X-Request-Id'].schema, description: 'The same as in the header `X-Request-Id`.' },
    ...(reasons.length > 0 && {
      reason: { type: 'string', enum: reasons, description: 'Distinguishes conflicts (409).', examples: [reasons[0]] },
    }),
  }
  const schemas: Json = {
    ApiError: closed('An error, in the common shape.', {
      error: { $ref: '#/components/schemas/ApiErrorInfo', description: 'The error.' },
    }),
    ApiErrorInfo: closed('What is wrong.', error, ['code', 'message', 'request_id']),
  }
  if (bodies.some(({ detail }) => detail !== undefined)) {
    const detail = {
      type: 'string',
      description: 'The error in one sentence.',
      examples: ['This key does not exist.'],
    }
    schemas.Detail = closed('An error of this API; those of the gateway (401, 429, 503) are an `ApiError`.', { detail })
  }
  return schemas
}

const closed = (description: string, properties: Json, required = Object.keys(properties)) => ({
  type: 'object',
  description,
  properties,
  required,
  additionalProperties: false,
})

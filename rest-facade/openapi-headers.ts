import type { Meta } from '../routers/kernel/meta.ts'
import type { Json } from './openapi-operation.ts'

const text = (description: string, example: string, more: Json = {}) => ({
  description,
  required: true,
  schema: { type: 'string' },
  example,
  ...more,
})
const count = (description: string, example: number) => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0 },
  example,
})

export const REQUEST_ID_PATTERN = '^[A-Za-z0-9._-]{1,64}$'

/** The response headers of the documents. `required`: a response that names it always has it. */
export const headers = {
  'X-Request-Id': text(
    "Identifies the request, also in the service's log: quote it when you ask for support. A request may set its own id in a header of this name.",
    '4b0c1c1e-8f38-4f0e-a0c4-5a1d1f6b2c3d',
    { schema: { type: 'string', pattern: REQUEST_ID_PATTERN } },
  ),
  RateLimit: text(
    "What is left of the team's request quota: `r` requests in the next `t` seconds. Sandbox clients have no limit, and no such header.",
    '"team";r=9999;t=60',
    { required: false },
  ),
  'RateLimit-Policy': text(
    "The team's request quota: `q` requests in `w` seconds, over all its clients and apps.",
    '"team";q=10000;w=60',
    { required: false },
  ),
  'Retry-After': count('Seconds to wait before the next request.', 60),
  'WWW-Authenticate': text(
    'What the token lacks (RFC 6750), and where the API says who issues its tokens (RFC 9728). On every 401, and on a 403 for a missing scope.',
    'Bearer error="insufficient_scope", scope="svc.me.profile:read", resource_metadata="https://apps.example/.well-known/oauth-protected-resource/v1"',
    { required: false },
  ),
  'X-Error-Code': text('Identifies the error, for programs; it never changes.', 'tokenExpired', {
    schema: { type: 'string', pattern: '^[A-Za-z]+$' },
  }),
  Link: text("The error's entry in the catalogue.", '</v1/docs/errors#tokenExpired>; rel="help"'),
  Allow: text('The methods allowed at this address.', 'GET, HEAD'),
  ETag: text('Identifies this version of the entry; new with every write.', '"5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20"'),
  'X-Storage-Used': count('Bytes that the app stores in this club.', 14),
  'X-Storage-Limit': count('Bytes that the app may store in this club.', 10_485_760),
} satisfies Record<string, Json>

export type HeaderName = keyof typeof headers

const reference = (name: HeaderName) => [name, { $ref: `#/components/headers/${name}` }] as const

const USAGE: HeaderName[] = ['X-Storage-Used', 'X-Storage-Limit']

/** The headers of a response; `counted`: of one to a call that counts for the quota. */
export const describeHeaders = (counted: boolean, names: readonly string[] = []): Record<string, Json> => {
  const all = ['X-Request-Id', ...(counted ? ['RateLimit', 'RateLimit-Policy'] : []), ...names]
  return Object.fromEntries(all.map((name) => reference(name as HeaderName)))
}

type Reporting = Pick<Meta, 'reportsUsage' | 'fails' | 'operationFails'>

/** The headers of a 404 for an unknown key and a 403 by a rule; others of the same operation lack them. */
export const usageOfSome = (status: number, { reportsUsage, fails = [], operationFails = [] }: Reporting) =>
  reportsUsage &&
  ((status === 404 && fails.includes('keyUnknown')) ||
    (status === 403 && [...fails, ...operationFails].includes('entryNotOwn')))
    ? Object.fromEntries(USAGE.map((name) => [name, { ...headers[name], required: false }]))
    : {}

/** Whether each response of this status tells the usage of the store. */
export const usageHeaders = (status: number, { reportsUsage }: { reportsUsage?: boolean }): HeaderName[] =>
  reportsUsage && (status < 300 || status === 412 || status === 413) ? USAGE : []

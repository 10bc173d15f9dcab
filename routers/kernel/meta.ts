import type { OpenApiMeta } from 'trpc-to-openapi'
import type { PlainError } from './errors.ts'
import type { AccessPolicy } from './policies.ts'
import type { FirstPartyScope, Scope, Section } from './scopes.ts'

export interface Described {
  summary: string
  /** The endpoint's own errors, beside those of its policy and of its input. */
  fails?: readonly PlainError[]
}

/** What the OpenAPI documents say of an endpoint, in Markdown. */
export interface Words {
  description: string
  /** What success means. */
  returns: string
}

/** How an endpoint looks over REST, where its line does not say so. */
export interface Row extends Described {
  /** Where it answers, if not at the host of the section whose tokens it takes. */
  section?: 'sync'
  /** Status of success; 200 by default. */
  status?: 201 | 204
  /** Input that PUT and POST take from the query. */
  query?: readonly string[]
  /** Input that comes as a request header. */
  headers?: Readonly<Record<string, string>>
  /** Output that leaves as a response header; typed callers see it as a field. */
  responseHeaders?: Readonly<Record<string, string>>
  /** The one field of the output, in base64, whose bytes are the whole body over REST. */
  file?: { field: string; type: string }
  /** PUT and DELETE of the storage, and their 413, report in headers how much is stored. */
  reportsUsage?: true
  /** It takes an `Idempotency-Key` for the store of the token. */
  takesKey?: true
  /** It inserts a row that refers to what the token names: 401 when that was deleted a moment ago. */
  insertsRow?: true
  /** It writes to the audit log of the team, which has a limit of changes a day. */
  audited?: true
  /** The one field of the body that stays the text it came as, and is read when the procedure asks for it. */
  raw?: string
  /** The one field of the body that is a list of objects, and the field of each of them that stays text. */
  rawItems?: RawItems
  /** The name of the subscription that answers a GET which accepts server-sent events. */
  stream?: string
  /** Errors of one operation of a batch: their messages begin with its index. */
  operationFails?: readonly PlainError[]
}

export interface RawItems {
  list: string
  field: string
}

/** The row of a procedure: an endpoint's, or without `openapi` that of a procedure which only tRPC has. */
export interface Meta extends OpenApiMeta, Row, Partial<Words> {
  scope: Scope | FirstPartyScope | null
  policy: AccessPolicy
}

/** The section at whose host an endpoint answers. */
export const findSection = ({ section, policy }: Meta): Section => section ?? policy.requires.section

import { TRPCError } from '@trpc/server'
import type { Details, FieldFault, Place, RefusedRecord, Row, Status } from './error-row.ts'
import { codes } from './error-row.ts'
import { accessErrors } from './error-rows/access.ts'
import { developerErrors } from './error-rows/developer.ts'
import { membersErrors } from './error-rows/members.ts'
import { platformErrors } from './error-rows/platform.ts'
import { requestErrors } from './error-rows/request.ts'
import { storageErrors } from './error-rows/storage.ts'
import { teamsErrors } from './error-rows/teams.ts'
import { webhooksErrors } from './error-rows/webhooks.ts'

const statusByError = new Map<string, Status>(
  Object.entries(codes).map(([status, [, code]]) => [code, Number(status) as Status]),
)

/**
 * The only error that leaves the service. `publicCode` is the documented code (`code` is tRPC's), `reason` tells conflicts apart,
 * `refused` names the records of a call that are at fault, `faults` the fields, `headers` are set on the response, `cause` goes to
 * the log alone.
 */
export class ApiError extends TRPCError {
  /** The name of its row in `errors`; '' for other errors. */
  id = ''
  /** The message has no parameters. */
  isFixed = false
  /** The field of the input that its schema refuses. */
  field: string | undefined
  /** The client of an expired but otherwise valid token, for its request log. */
  client: string | undefined
  readonly status: Status
  readonly publicCode: string
  readonly reason: string | undefined
  readonly refused: readonly RefusedRecord[] | undefined
  readonly faults: readonly FieldFault[]
  readonly headers: Record<string, string>

  constructor(
    status: Status,
    message: string,
    { code, reason, refused, faults = [], headers = {}, cause }: Details = {},
  ) {
    super({ code: codes[status][1], message, cause })
    this.status = status
    this.publicCode = code ?? codes[status][0]
    this.reason = reason
    this.refused = refused
    this.faults = faults
    this.headers = headers
  }
}

/** Translates tRPC's error for a call that reached no procedure. */
export const protocolError = ({ code, message }: TRPCError) =>
  new ApiError(code === 'PARSE_ERROR' ? 400 : (statusByError.get(code) ?? 500), message.slice(0, 200))

/** Every error that a client can get, from the documents and the decisions. */
export const errorRows = {
  ...requestErrors,
  ...accessErrors,
  ...storageErrors,
  ...membersErrors,
  ...webhooksErrors,
  ...teamsErrors,
  ...developerErrors,
  ...platformErrors,
}

type ErrorRows = typeof errorRows
export type ErrorId = keyof ErrorRows

type Make<R> = R extends { make: (...given: infer Given) => unknown } ? (...given: Given) => ApiError : () => ApiError

function maker(id: string, row: Row): (...given: unknown[]) => ApiError {
  if ('make' in row) {
    return (...given) => {
      const { status = row.status, message, ...details } = row.make(...given)
      return Object.assign(new ApiError(status, message, details), { id })
    }
  }
  const { status, message, cause: _, ...details } = row
  return () => Object.assign(new ApiError(status, message, details), { id, isFixed: true })
}

/** Creates the error of each row. */
export const errors = Object.fromEntries(Object.entries(errorRows).map(([id, row]) => [id, maker(id, row)])) as {
  [Id in ErrorId]: Make<ErrorRows[Id]>
}

/** The error as that of one operation of a batch, counted from 0. */
export function nameOperation(index: number, error: ApiError): ApiError {
  error.message = `Operation ${index}: ${error.message}`
  return error
}

/** Errors without parameters, which a schema may name. */
export type PlainError = { [Id in ErrorId]: ErrorRows[Id] extends { make: unknown } ? never : Id }[ErrorId]

/** A zod option: the error to throw when a check fails. */
export const withError = (name: PlainError) => ({ error: name as string })

export interface CatalogueRow {
  id: ErrorId
  error: ApiError
  place: Place
  cause: string
  fix: string
}

export const errorCatalogue = (): CatalogueRow[] =>
  (Object.entries(errorRows) as [ErrorId, Row][])
    .map(([id, row]) => {
      const make = errors[id] as (...given: unknown[]) => ApiError
      const { place, cause, fix } = row
      return { id, error: make(...('example' in row ? row.example : [])), place, cause, fix }
    })
    .sort((one, other) => one.error.status - other.error.status)

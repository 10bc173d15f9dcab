import type { ApiError, errors } from '../../routers/kernel/errors.ts'

/** Errors whose sentences are about the endpoint or the client; others could quote the request. */
const quotesNothing: ReadonlySet<string> = new Set<keyof typeof errors>([
  'scopeMissing',
  'clientNotApp',
  'memberUnknown',
  'hostWrong',
  'methodWrong',
  'rateLimited',
  'internal',
  'unavailable',
])

/** Null when the error's sentence could quote the request. */
export const loggedMessage = ({ id, isFixed, message }: ApiError): string | null =>
  isFixed || quotesNothing.has(id) ? message : null

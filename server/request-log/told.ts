import type { ApiError, errors } from '../../routers/kernel/errors.ts'

/** Errors whose sentences tell of the endpoint or the client; those of others could have something of the request. */
const told: ReadonlySet<string> = new Set<keyof typeof errors>([
  'scopeMissing',
  'clientNotApp',
  'memberUnknown',
  'hostWrong',
  'methodWrong',
  'rateLimited',
  'internal',
  'unavailable',
])

/** The sentence of an error; null where it could have something of the request. */
export const toldOf = ({ id, isFixed, message }: ApiError): string | null => (isFixed || told.has(id) ? message : null)

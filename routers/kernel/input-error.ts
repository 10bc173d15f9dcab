import type { z } from 'zod'
import type { ApiError, PlainError } from './errors.ts'
import { errors } from './errors.ts'

/** The first issue of an input: the row of the catalogue that its schema names, or a sentence with the default status. */
export function inputError({ issues }: z.core.$ZodError, type: string): ApiError {
  const { message, path } = issues[0]!
  const error = toError(message, path, type)
  error.field = path.length > 0 ? String(path[0]) : undefined
  return error
}

function toError(message: string, path: readonly PropertyKey[], type: string): ApiError {
  if (Object.hasOwn(errors, message)) return errors[message as PlainError]()
  const status = type === 'mutation' ? 400 : 422
  if (message.endsWith('.')) return errors.inputInvalid(status, message)
  return errors.inputInvalid(status, `${path.join('.').slice(0, 64) || 'The input'}: ${message.slice(0, 100)}.`)
}

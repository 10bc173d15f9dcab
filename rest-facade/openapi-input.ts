import type { AnyProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { ApiError, PlainError } from '../routers/errors.ts'
import { errors } from '../routers/errors.ts'

/** What is read of a schema or of one of its checks. */
interface Definition {
  error?: ((issue: never) => unknown) | undefined
  checks?: { _zod: { def: Definition } }[]
  shape?: Record<string, z.ZodType>
  innerType?: z.ZodType
}

/** The errors that an endpoint's input can have: the rows that its schema names, or its sentences with the default status. */
export function inputErrorsOf({ _def }: AnyProcedure): ApiError[] {
  // Untyped, but where trpc-to-openapi finds it too.
  const { inputs, type } = _def as unknown as { inputs: readonly z.ZodType[]; type: string }
  const messages = new Set(inputs.flatMap((schema) => messagesOf(schema._zod.def)))
  return [...messages].map((message) =>
    Object.hasOwn(errors, message)
      ? errors[message as PlainError]()
      : errors.inputInvalid(type === 'query' ? 422 : 400, message),
  )
}

function messagesOf({ error, checks = [], shape = {}, innerType }: Definition): string[] {
  const inner = [...Object.values(shape), ...(innerType ? [innerType] : [])].map(({ _zod }) => _zod.def)
  const below = [...checks.map(({ _zod }) => _zod.def), ...inner].flatMap((one) => messagesOf(one as Definition))
  return error ? [String(error({} as never)), ...below] : below
}

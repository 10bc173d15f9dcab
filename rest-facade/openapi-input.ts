import type { AnyProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { ApiError, PlainError } from '../routers/kernel/errors.ts'
import { errors, nameOperation } from '../routers/kernel/errors.ts'
import { readDefinition } from '../routers/kernel/trpc-internals.ts'

/** The properties that are read from a schema or one of its checks. */
interface Definition {
  error?: z.core.$ZodErrorMap | undefined
  checks?: z.core.$ZodCheck<never>[]
  shape?: Record<string, z.ZodType>
  innerType?: z.ZodType
  element?: z.ZodType
}

/** The errors that an endpoint's input can have: the rows that its schema names, or its sentences with the default status. */
export function listInputErrors(procedure: AnyProcedure): ApiError[] {
  const { inputs, type } = readDefinition(procedure)
  const definitions = inputs.map(({ def }) => def as Definition)
  const toApiError = (message: string) =>
    Object.hasOwn(errors, message)
      ? errors[message as PlainError]()
      : errors.inputInvalid(type === 'query' ? 422 : 400, message)
  return [
    ...[...new Set(definitions.flatMap(listMessages))].map(toApiError),
    ...[...new Set(definitions.flatMap(listOperationMessages))].map((message) => nameOperation(0, toApiError(message))),
  ]
}

const listOperationMessages = ({ shape = {} }: Definition): string[] =>
  Object.values(shape).flatMap(({ def }) => {
    const { element } = def as Definition
    return element ? listMessages(element.def as Definition) : []
  })

function listMessages({ error, checks = [], shape = {}, innerType }: Definition): string[] {
  const inner = [...Object.values(shape), ...(innerType ? [innerType] : [])].map(({ def }) => def)
  const below = [...checks.map((check) => check._zod.def), ...inner].flatMap((one) => listMessages(one as Definition))
  return error ? [String(error({ code: 'custom', input: undefined })), ...below] : below
}

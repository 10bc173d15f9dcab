import type { AnyProcedure, TRPCError } from '@trpc/server'
import { getTRPCErrorFromUnknown } from '@trpc/server'
import { getErrorShape, getHTTPStatusCode, getProcedureAtPath } from '@trpc/server/unstable-core-do-not-import'
import type { Context } from '../../routers/context.ts'
import { appRouter } from '../../routers/index.ts'

const methods = { query: 'GET', mutation: 'POST', subscription: undefined }

/** One call of a procedure by its own name and with its own method. */
export interface SingleCall {
  path: string
  procedure: AnyProcedure
}

/** What is no such call, or comes with more, is left to tRPC's adapter, which knows how to read and to refuse it. */
export async function singleCall(method: string, path: string, query: URLSearchParams): Promise<SingleCall | null> {
  if (query.get('batch') === '1' || query.has('connectionParams')) return null
  const procedure = await getProcedureAtPath(appRouter, path)
  return procedure && methods[procedure._def.type] === method ? { path, procedure } : null
}

interface Answer {
  status: number
  json: string
  error?: TRPCError
}

/**
 * What tRPC's adapter answers to such a call, without the Request, the Response, the signals and the streams that it makes
 * for each: they took two fifths of the time of a call. `input` is a JSON text that has been checked, or '' for none.
 */
export async function answerOf({ path, procedure }: SingleCall, input: string, ctx: Context): Promise<Answer> {
  const { type } = procedure._def
  const config = appRouter._def._config
  const getRawInput = async () => (input === '' ? undefined : JSON.parse(input))
  try {
    const data: unknown = await procedure({ path, getRawInput, ctx, type, signal: undefined, batchIndex: 0 })
    return { status: 200, json: JSON.stringify({ result: { data } }) }
  } catch (thrown) {
    const error = getTRPCErrorFromUnknown(thrown)
    // Our errorFormatter does not look at the input.
    const shape = { error: getErrorShape({ config, error, type, path, input: undefined, ctx }) }
    return { status: getHTTPStatusCode(shape), json: JSON.stringify(shape), error }
  }
}

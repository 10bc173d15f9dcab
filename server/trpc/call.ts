import type { AnyProcedure, TRPCError } from '@trpc/server'
import { getTRPCErrorFromUnknown, getTRPCErrorShape } from '@trpc/server'
import { getHTTPStatusCode } from '@trpc/server/http'
import { appRouter, procedures } from '../../routers/index.ts'
import type { Context } from '../../routers/kernel/context.ts'
import { configOf, definitionOf } from '../../routers/kernel/trpc-internals.ts'
import type { TrpcRequest } from './adapter.ts'

/** Streams are left to tRPC's adapter. */
const methods = { query: 'GET', mutation: 'POST', subscription: null }

export interface SingleCall {
  path: string
  procedure: AnyProcedure
  /** Whether it is the only one of a batch, as tRPC's batch links send it. */
  isBatch: boolean
}

/** A request's single call; null for anything else, which tRPC's adapter reads or refuses. */
export function singleCall(method: string, { name: path, query, isBatch }: TrpcRequest): SingleCall | null {
  if (query.has('connectionParams')) return null
  const procedure = Object.hasOwn(procedures, path) ? procedures[path] : undefined
  return procedure && methods[definitionOf(procedure).type] === method ? { path, procedure, isBatch } : null
}

interface Reply {
  status: number
  json: string
  error?: TRPCError
}

/**
 * Replies to a single call as tRPC's adapter does, without the Request, Response, signals and streams that it creates for each:
 * they took two fifths of a call's time. `readInput` resolves to validated JSON text, or '' for none.
 */
export async function replyTo(
  { path, procedure, isBatch }: SingleCall,
  readInput: () => Promise<string>,
  ctx: Context,
): Promise<Reply> {
  const { type } = definitionOf(procedure)
  const config = configOf(appRouter)
  const getRawInput = async () => {
    const text = await readInput()
    const input = text === '' ? undefined : JSON.parse(text)
    return isBatch ? input?.[0] : input
  }
  const jsonOf = (answer: object) => JSON.stringify(isBatch ? [answer] : answer)
  try {
    const data: unknown = await procedure({ path, getRawInput, ctx, type, signal: undefined, batchIndex: 0 })
    return { status: 200, json: jsonOf({ result: { data } }) }
  } catch (thrown) {
    const error = getTRPCErrorFromUnknown(thrown)
    // The service's errorFormatter ignores the input.
    const shape = { error: getTRPCErrorShape({ config, error, type, path, input: undefined, ctx }) }
    return { status: getHTTPStatusCode(shape), json: jsonOf(shape), error }
  }
}

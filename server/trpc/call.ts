import type { AnyProcedure, TRPCError } from '@trpc/server'
import { getTRPCErrorFromUnknown, getTRPCErrorShape } from '@trpc/server'
import { getHTTPStatusCode } from '@trpc/server/http'
import { appRouter, procedures } from '../../routers/index.ts'
import type { Context } from '../../routers/kernel/context.ts'
import { readConfig, readDefinition } from '../../routers/kernel/trpc-internals.ts'
import type { TrpcRequest } from './adapter.ts'

const methods = { query: 'GET', mutation: 'POST', subscription: null }

export interface SingleCall {
  path: string
  procedure: AnyProcedure
  /** Whether it is the only one of a batch, as tRPC's batch links send it. */
  isBatch: boolean
}

/** A request's single call; null for anything else, which tRPC's adapter reads or refuses. */
export function singleCall(method: string, { path, query, isBatch, isStream }: TrpcRequest): SingleCall | null {
  const procedure = procedureAt(path)
  if (!procedure) return null
  const isSingle = isStream || (!query.has('connectionParams') && methods[readDefinition(procedure).type] === method)
  return isSingle ? { path, procedure, isBatch } : null
}

export const procedureAt = (path: string) => (Object.hasOwn(procedures, path) ? procedures[path] : undefined)

export const isSubscription = (procedure: AnyProcedure) => readDefinition(procedure).type === 'subscription'

/** Resolves to validated JSON text, or '' for none. */
export type ReadInput = () => Promise<string>

export interface Reply {
  status: number
  json: string
  error?: TRPCError
}

/**
 * Replies to a single call as tRPC's adapter does, without the Request, Response, signals and streams that it creates for each:
 * they took two fifths of a call's time.
 */
export async function replyTo(call: SingleCall, readInput: ReadInput, ctx: Context): Promise<Reply> {
  try {
    const data = await run(call, readInput, ctx)
    return { status: 200, json: toJson(call, { result: { data } }) }
  } catch (thrown) {
    return toRefusal(call, thrown)
  }
}

/** `lastEventId`: where a stream goes on, '' for none. */
export function run(
  { path, procedure, isBatch }: SingleCall,
  readInput: ReadInput,
  ctx: Context,
  lastEventId = '',
): Promise<unknown> {
  const getRawInput = async () => {
    const text = await readInput()
    const input = text === '' ? undefined : JSON.parse(text)
    if (lastEventId !== '') return { ...input, lastEventId }
    return isBatch ? input?.[0] : input
  }
  const { type } = readDefinition(procedure)
  return procedure({ path, getRawInput, ctx, type, signal: undefined, batchIndex: 0 })
}

export function toRefusal(call: SingleCall, thrown: unknown): Reply {
  const error = getTRPCErrorFromUnknown(thrown)
  const shape = { error: errorShape(call, error) }
  return { status: getHTTPStatusCode(shape), json: toJson(call, shape), error }
}

/** The service's errorFormatter ignores input and context. */
export const errorShape = ({ path, procedure }: SingleCall, error: TRPCError) =>
  getTRPCErrorShape({
    config: readConfig(appRouter),
    error,
    type: readDefinition(procedure).type,
    path,
    input: undefined,
    ctx: undefined,
  })

const toJson = ({ isBatch }: SingleCall, answer: object) => JSON.stringify(isBatch ? [answer] : answer)

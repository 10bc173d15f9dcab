import { sampleCalls } from '../support/sample-calls.ts'
import type { Faulted } from './faulted.ts'
import type { Answer } from './service.ts'

const samples = sampleCalls()

/** Every operation of both documents with its example, which fits the demo data; first the entry that others read. */
export const operations: typeof samples = { 'storage.put': samples['storage.put']!, ...samples }

export const names = Object.keys(operations)

export function overRest(service: Faulted, name: string, member: string): Promise<Answer> {
  const { method, path, body, ...at } = operations[name]!
  return service.rest(at, member, method, path, body)
}

export function overTrpc(service: Faulted, name: string, member: string): Promise<Answer> {
  const { tokens, method, input } = operations[name]!
  return service.trpc(tokens, member, name, input, method !== 'GET')
}

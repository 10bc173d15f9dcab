import { sampleCalls } from '../support/sample-calls.ts'
import type { Faulted } from './faulted.ts'
import type { Answer } from './service.ts'

const samples = sampleCalls()

/**
 * Every operation of the documents with its example, which fits the demo data; first the entry that others read. The rule lets them
 * write it.
 */
export const operations: typeof samples = {
  'storage.put': samples['storage.put']!,
  ...samples,
  'storage.rules.put': {
    ...samples['storage.rules.put']!,
    body: { rule: 'anyone' },
    input: { collection: 'scores', rule: 'anyone' },
  },
}

export const names = Object.keys(operations)

export function overRest(service: Faulted, name: string, member: string): Promise<Answer> {
  const { method, path, body, isOfApp, ...at } = operations[name]!
  return service.rest(at, isOfApp ? null : member, method, path, body)
}

export function overTrpc(service: Faulted, name: string, member: string): Promise<Answer> {
  const { tokens, method, input, isOfApp } = operations[name]!
  return service.trpc(tokens, isOfApp ? null : member, name, input, method !== 'GET')
}

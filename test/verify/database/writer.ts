import fc from 'fast-check'
import { expect } from 'vitest'
import type { Answer } from '../../process/service.ts'
import type { Send } from './two-servers.ts'

/** A writer's next step: on its own or a shared key, with or without a condition. */
export const step = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'delete', 'create', 'replace', 'stale'),
  key: fc.constantFrom('own0', 'own1', 'shared0', 'shared1', 'shared2', 'shared3'),
  scope: fc.constantFrom('org', 'user'),
  bytes: fc.integer({ min: 12, max: 1200 }),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

let values = 0

/** A unique value whose JSON has `bytes` bytes. */
export const textOf = (bytes: number) => `${++values}.`.padEnd(bytes - 2, 'x')

/** Returns a function that takes a step and checks its answer; adds acknowledged values to `stored`. */
export function createWriter(send: Send, name: string, stored: Set<unknown>) {
  const known = new Map<string, { value: string; etag: string }>()
  return async ({ kind, key, scope, bytes }: Step): Promise<number> => {
    const isOwn = key.startsWith('own')
    const path = `c/${isOwn ? `${name}-${key}` : key}?scope=${scope}`
    const before = known.get(path)
    const value = textOf(bytes)
    const headers = headersFor(kind, before?.etag)
    const answer = kind === 'delete' ? await send('DELETE', path) : await send('PUT', path, { value, headers })
    expectDocumented(answer)

    if (answer.status === 200) {
      known.set(path, { value, etag: String(answer.headers.etag) })
      stored.add(value)
    }
    if (answer.status === 204) known.delete(path)
    if (!isOwn) return answer.status

    const fits = { create: !before, replace: before, stale: false, put: true, delete: true }[kind]
    const grows = bytes > (before ? before.value.length + 2 : 0)
    const allowed = kind === 'delete' ? [before ? 204 : 404] : !fits ? [412] : grows ? [200, 413] : [200]
    expect(allowed, `${kind} ${path} with ${bytes} bytes`).toContain(answer.status)
    if (answer.status > 204) {
      const { status, body } = await send('GET', path)
      expect([status, body.value]).toEqual(before ? [200, before.value] : [404, undefined])
    }
    return answer.status
  }
}

function headersFor(kind: Step['kind'], etag = '"none"'): Record<string, string> {
  if (kind === 'create') return { 'if-none-match': '*' }
  if (kind === 'replace') return { 'if-match': etag }
  return kind === 'stale' ? { 'if-match': '"11111111-1111-4111-8111-111111111111"' } : {}
}

const details: Record<number, string> = {
  404: 'This key does not exist.',
  412: 'This entry has changed.',
  413: 'App storage quota exceeded.',
}

function expectDocumented({ status, headers, body }: Answer) {
  expect([status, body?.detail]).toEqual([expect.toBeOneOf([200, 204, 404, 412, 413]), details[status]])
  if (status <= 204) expect(Number(headers['x-storage-used'])).toBeLessThanOrEqual(Number(headers['x-storage-limit']))
}

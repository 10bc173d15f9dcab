import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { errors } from '../../routers/errors.ts'
import { limitFailures, MAX_FAILURES, REFUSAL_DELAY_MS } from '../../server/http/failed-authentications.ts'

it('an invalid token beyond the limit is verified once, and refused from then on', async () => {
  const verified: unknown[] = []
  const authenticate = limitFailures(
    async ({ headers }) => {
      verified.push(headers.authorization)
      throw errors.tokenInvalid()
    },
    () => '192.0.2.1',
  )
  const statusOf = (token: string) =>
    authenticate({ headers: { authorization: `Bearer ${token}` } } as IncomingMessage).catch(({ status }) => status)
  for (let n = 0; n < MAX_FAILURES; n++) expect(await statusOf(`guess${n}`)).toBe(401)
  expect(await statusOf('again')).toBe(429)
  expect(verified).toHaveLength(MAX_FAILURES + 1)
  expect(await statusOf('again')).toBe(429)
  expect(verified).toHaveLength(MAX_FAILURES + 1)
  expect(await statusOf('another')).toBe(429)
  expect(verified).toHaveLength(MAX_FAILURES + 2)
})

it('invalid tokens beyond the limit are refused after a delay, at first sight and again', async () => {
  const authenticate = limitFailures(
    async () => {
      throw errors.tokenInvalid()
    },
    () => '192.0.2.1',
  )
  const msOf = async (token: string) => {
    const startedAt = performance.now()
    await authenticate({ headers: { authorization: `Bearer ${token}` } } as IncomingMessage).catch(() => {})
    return performance.now() - startedAt
  }
  await Promise.all(Array.from({ length: MAX_FAILURES }, (_, n) => msOf(`guess${n}`)))
  // A timer may fire a millisecond early.
  expect(await msOf('again')).toBeGreaterThan(REFUSAL_DELAY_MS - 2)
  expect(await msOf('again')).toBeGreaterThan(REFUSAL_DELAY_MS - 2)
})

it.each([
  ['expired tokens do', errors.tokenExpired, { authorization: 'Bearer x' }],
  ['requests without a token do', errors.tokenMissing, {}],
])('%s not count', async (_, error, headers) => {
  const authenticate = limitFailures(
    async () => {
      throw error()
    },
    () => '192.0.2.1',
  )
  for (let n = 0; n <= MAX_FAILURES; n++) {
    await expect(authenticate({ headers } as IncomingMessage)).rejects.toMatchObject({ status: 401 })
  }
})

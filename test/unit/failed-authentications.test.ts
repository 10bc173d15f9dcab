import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { errors } from '../../routers/kernel/errors.ts'
import { limitFailures, MAX_FAILURES, REFUSAL_DELAY_MS } from '../../server/http/failed-authentications.ts'
import { memoryLimits } from '../../server/limits/memory.ts'

it('an invalid token beyond the limit is verified once, and refused from then on', async () => {
  const verified: unknown[] = []
  const authenticate = limitFailures(
    async ({ headers }) => {
      verified.push(headers.authorization)
      throw errors.tokenInvalid()
    },
    () => '192.0.2.1',
    memoryLimits(() => 0),
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

it('an invalid token that was refused is verified again in the next window', async () => {
  let ms = 0
  const authenticate = limitFailures(
    async () => {
      throw errors.tokenInvalid()
    },
    () => '192.0.2.1',
    memoryLimits(() => ms),
    () => ms,
  )
  const answerTo = (token: string) =>
    authenticate({ headers: { authorization: `Bearer ${token}` } } as IncomingMessage).catch((error) => error)
  for (let n = 0; n < MAX_FAILURES; n++) await answerTo(`guess${n}`)
  for (const [at, retryAfter] of [
    [20_000, 40],
    [58_999, 2],
    [59_999, 1],
  ] as const) {
    ms = at
    expect(await answerTo('again')).toMatchObject({ status: 429, headers: { 'Retry-After': String(retryAfter) } })
  }
  ms = 60_000
  expect(await answerTo('again')).toMatchObject({ status: 401 })
})

it('invalid tokens beyond the limit are refused after a delay, at first sight and again', async () => {
  const authenticate = limitFailures(
    async () => {
      throw errors.tokenInvalid()
    },
    () => '192.0.2.1',
    memoryLimits(() => 0),
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
    memoryLimits(() => 0),
  )
  for (let n = 0; n <= MAX_FAILURES; n++) {
    await expect(authenticate({ headers } as IncomingMessage)).rejects.toMatchObject({ status: 401 })
  }
})

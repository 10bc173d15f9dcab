import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { FaultProxy } from '../support/fault-proxy.ts'
import { times } from '../support/rounds.ts'
import type { AuthWorld } from './auth-world.ts'
import { redirectUri, startAuthWorld } from './auth-world.ts'

const ROUNDS = times(15, 2)
const AT_ONCE = times(20, 8)
const scope = 'svc.me.profile:read'

let service: AuthWorld
let proxy: FaultProxy
let tenant: AuthWorld
beforeAll(async () => {
  tenant = await startAuthWorld()
  proxy = await FaultProxy.to(inject('databaseUrl'))
  service = await startAuthWorld({ databaseUrl: proxy.url, like: tenant.world })
  proxy.latencyMs = 5
  await proxy.begin('latency')
})
afterAll(async () => {
  await service.world.close()
  await tenant.world.close()
  proxy.close()
})

const atOnce = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: AT_ONCE }, work))

type Answer = { status: number; json: { error?: string; error_description?: string } }

/** At most one request wins; the others fail with an expected error. Returns the number of winners. */
function winners(answers: Answer[]): number {
  const refused = answers.filter(({ status }) => status !== 200)
  const described = refused.map(({ status, json }) => `${status} ${json.error}: ${json.error_description}`).join('\n')
  const codes = new Set(refused.map(({ status, json }) => `${status} ${json.error}`))
  expect(codes, described).toEqual(new Set(['400 invalid_grant']))
  const won = answers.length - refused.length
  expect(won, described).toBeLessThanOrEqual(1)
  return won
}

describe(`${AT_ONCE} at once, on a database 10 ms away`, () => {
  it('renew with one refresh token: at most one gets new tokens', async () => {
    const { client, world } = tenant
    for (let round = 0; round < ROUNDS; round++) {
      const tokens = await tenant.toTokens({ client, scope }, world.ids.member, world.ids.club)
      winners(await atOnce(() => service.refresh(client, tokens.refresh_token)))
    }
  })

  it('exchange one code: one gets tokens', async () => {
    const { client, world } = tenant
    for (let round = 0; round < ROUNDS; round++) {
      const { code, verifier } = await tenant.toCode({ client, scope }, world.ids.member, world.ids.club)
      expect(winners(await atOnce(() => service.exchange(client, code, verifier, redirectUri)))).toBe(1)
    }
  })
})

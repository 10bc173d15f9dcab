import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { FaultProxy } from '../support/fault-proxy.ts'
import { times } from '../support/rounds.ts'
import type { AuthWorld } from './auth-world.ts'
import { redirectUri, startAuthWorld } from './auth-world.ts'

const ROUNDS = times(15, 2)
const AT_ONCE = times(20, 8)
const scope = 'svc.me.profile:read'

let nodes: [AuthWorld, AuthWorld]
let proxy: FaultProxy
let tenant: AuthWorld
beforeAll(async () => {
  tenant = await startAuthWorld()
  proxy = await FaultProxy.to(inject('databaseUrl'))
  const node = () => startAuthWorld({ databaseUrl: proxy.url, like: tenant.world })
  nodes = [await node(), await node()]
  proxy.latencyMs = 5
  await proxy.begin('latency')
})
afterAll(async () => {
  for (const { world } of nodes) await world.close()
  await tenant.world.close()
  proxy.close()
})

/** Each request goes to the other node than the one before it. */
const atOnce = <T>(work: (node: AuthWorld) => Promise<T>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, at) => work(nodes[at % 2]!)))

const described = (answers: Answer[]) =>
  answers.map(({ status, json }) => `${status} ${json.error ?? ''} ${json.error_description ?? ''}`).join('\n')

type Answer = { status: number; json: { error?: string; error_description?: string } }

describe(`${AT_ONCE} at once on two nodes, on a database 10 ms away`, () => {
  it('renew with one refresh token: all get the same successor, and an access token each', async () => {
    const { client, world } = tenant
    for (let round = 0; round < ROUNDS; round++) {
      const tokens = await tenant.toTokens({ client, scope }, world.ids.member, world.ids.club)
      const answers = await atOnce((node) => node.refresh(client, tokens.refresh_token))
      expect(new Set(answers.map(({ status }) => status)), described(answers)).toEqual(new Set([200]))
      expect(new Set(answers.map(({ json }) => json.refresh_token)).size).toBe(1)
      expect(new Set(answers.map(({ json }) => json.access_token)).size).toBe(AT_ONCE)
      expect((await tenant.refresh(client, answers[0]!.json.refresh_token)).status).toBe(200)
    }
  })

  it('exchange one code: one gets tokens', async () => {
    const { client, world } = tenant
    for (let round = 0; round < ROUNDS; round++) {
      const { code, verifier } = await tenant.toCode({ client, scope }, world.ids.member, world.ids.club)
      const answers = await atOnce((node) => node.exchange(client, code, verifier, redirectUri))
      const refused = answers.filter(({ status }) => status !== 200)
      expect(refused.length, described(answers)).toBe(AT_ONCE - 1)
      const codes = new Set(refused.map(({ status, json }) => `${status} ${json.error}`))
      expect(codes, described(answers)).toEqual(new Set(['400 invalid_grant']))
    }
  })
})

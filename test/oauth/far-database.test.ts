import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { FaultProxy } from '../support/fault-proxy.ts'
import { times } from '../support/rounds.ts'
import type { AuthWorld } from './auth-world.ts'
import { issuer, redirectUri, startAuthWorld } from './auth-world.ts'

const scope = 'svc.me.profile:read'
const ROUNDS = times(15, 2)
const AT_ONCE = times(20, 8)

let proxy: FaultProxy
let tenant: AuthWorld
let service: AuthWorld
beforeAll(async () => {
  tenant = await startAuthWorld()
  proxy = await FaultProxy.to(inject('databaseUrl'))
  service = await startAuthWorld({ databaseUrl: proxy.url, like: tenant.world })
})
afterAll(async () => {
  await service.world.close()
  await tenant.world.close()
  proxy.close()
})

describe('without its database', () => {
  it('the authorization server returns 503 to apps and members, and recovers with the database', async () => {
    const { client, world } = tenant
    const tokens = await service.toTokens({ client, scope })
    const browser = service.newBrowser()
    const { url } = service.authorizeUrl({ client, scope })
    const page = await service.toConsent(browser, url, world.ids.member)

    await proxy.begin('refuse')
    const renewal = await service.refresh(client, tokens.refresh_token)
    expect(renewal).toMatchObject({ status: 503, json: { error: 'temporarily_unavailable' } })
    expect(renewal.headers['retry-after']).toBe('2')
    const revocation = await service.app.post(`${issuer}/revoke`, { client_id: client, token: tokens.refresh_token })
    expect(revocation.status).toBe(503)
    for (const address of [url, page.url, new URL(`${issuer}/connected`)]) {
      const answer = await browser.get(address)
      expect([address.pathname, answer.status, answer.location]).toEqual([address.pathname, 503, undefined])
      expect(answer.headers['content-type']).toMatch(/^text\/html/)
      expect(answer.headers['retry-after']).toBe('2')
    }
    expect((await service.app.get(`${issuer}/jwks`)).status).toBe(200)

    await proxy.end()
    // Not by the renewal: one that is cut off between its statements has used up its token.
    const signsIn = () => service.toTokens({ client, scope })
    await expect.poll(() => signsIn().catch(String)).toMatchObject({ token_type: 'Bearer' })
    expect(await service.refresh(client, tokens.refresh_token)).toMatchObject({ status: 200 })
    const back = await browser.submit(page, 'consent', { organisation: world.ids.club, scope, decision: 'allow' })
    expect(back.location!.searchParams.get('code')).toEqual(expect.any(String))
  })
})

describe(`${AT_ONCE} at once on two nodes, on a database 10 ms away`, () => {
  let nodes: [AuthWorld, AuthWorld]
  beforeAll(async () => {
    const node = () => startAuthWorld({ databaseUrl: proxy.url, like: tenant.world })
    nodes = [await node(), await node()]
    proxy.latencyMs = 5
    await proxy.begin('latency')
  })
  afterAll(async () => {
    for (const { world } of nodes) await world.close()
  })

  /** Each request goes to the other node than the one before it. */
  const atOnce = <T>(work: (node: AuthWorld) => Promise<T>) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, at) => work(nodes[at % 2]!)))

  const described = (answers: Answer[]) =>
    answers.map(({ status, json }) => `${status} ${json.error ?? ''} ${json.error_description ?? ''}`).join('\n')

  type Answer = { status: number; json: { error?: string; error_description?: string } }

  it('renew with one refresh token: all get the same successor, and an access token each', async () => {
    const { client } = tenant
    for (let round = 0; round < ROUNDS; round++) {
      const tokens = await tenant.toTokens({ client, scope })
      const answers = await atOnce((node) => node.refresh(client, tokens.refresh_token))
      expect(new Set(answers.map(({ status }) => status)), described(answers)).toEqual(new Set([200]))
      expect(new Set(answers.map(({ json }) => json.refresh_token)).size).toBe(1)
      expect(new Set(answers.map(({ json }) => json.access_token)).size).toBe(AT_ONCE)
      expect((await tenant.refresh(client, answers[0]!.json.refresh_token)).status).toBe(200)
    }
  })

  it('exchange one code: one gets tokens', async () => {
    const { client } = tenant
    for (let round = 0; round < ROUNDS; round++) {
      const { code, verifier } = await tenant.toCode({ client, scope })
      const answers = await atOnce((node) => node.exchange(client, code, verifier, redirectUri))
      const refused = answers.filter(({ status }) => status !== 200)
      expect(refused.length, described(answers)).toBe(AT_ONCE - 1)
      const codes = new Set(refused.map(({ status, json }) => `${status} ${json.error}`))
      expect(codes, described(answers)).toEqual(new Set(['400 invalid_grant']))
    }
  })
})

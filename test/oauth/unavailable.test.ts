import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { FaultProxy } from '../support/fault-proxy.ts'
import type { AuthWorld } from './auth-world.ts'
import { issuer, startAuthWorld } from './auth-world.ts'

const scope = 'svc.me.profile:read'

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
    const tokens = await service.toTokens({ client, scope }, world.ids.member, world.ids.club)
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
    const signsIn = () => service.toTokens({ client, scope }, world.ids.member, world.ids.club)
    await expect.poll(() => signsIn().catch(String)).toMatchObject({ token_type: 'Bearer' })
    expect(await service.refresh(client, tokens.refresh_token)).toMatchObject({ status: 200 })
    const back = await browser.submit(page, 'consent', { organisation: world.ids.club, scope, decision: 'allow' })
    expect(back.location!.searchParams.get('code')).toEqual(expect.any(String))
  })
})

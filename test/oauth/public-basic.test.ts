import { beforeAll, describe, expect, it } from 'vitest'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'
import { deviceFlow, deviceGrant } from './device-world.ts'
import { api } from './openid-world.ts'

const auth = authWorld()

let client: string
beforeAll(async () => {
  client = await register(auth.world, { devices: true })
})

const basic = (id: string, secret = '') => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${secret}`).toString('base64')}`,
})
const tokensOf = (of = client) => auth.toTokens({ client: of, scope: api }, auth.world.ids.member, auth.world.ids.club)

describe('a public client that sends its id in the header, with an empty secret', () => {
  it('gets tokens for a code, renews and revokes them', async () => {
    const { code, verifier } = await auth.toCode({ client, scope: api }, auth.world.ids.member, auth.world.ids.club)
    const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
    const first = await auth.token(fields, basic(client))
    expect([first.status, first.json]).toEqual([200, expect.objectContaining({ scope: api })])
    const renewal = { grant_type: 'refresh_token', refresh_token: first.json.refresh_token }
    for (const more of [{}, { client_id: client }, { client_id: '' }] as Record<string, string>[]) {
      expect((await auth.token({ ...renewal, ...more }, basic(client))).status).toBe(200)
    }
    const chunked = { ...basic(client), 'transfer-encoding': 'chunked' }
    expect((await auth.token(renewal, chunked)).json).toMatchObject({ scope: api })
    expect((await auth.token({}, chunked)).json.error).toBe('invalid_request')
    const revoked = await auth.app.post(`${issuer}/revoke`, { token: first.json.refresh_token }, basic(client))
    expect(revoked.status).toBe(200)
    expect((await auth.token(renewal, basic(client))).json.error).toBe('invalid_grant')
  })

  it('signs in on a device', async () => {
    const device = deviceFlow(auth)
    const begun = await device.authorize({ scope: api }, basic(client))
    expect(begun.status).toBe(200)
    await device.allow(begun.json.user_code, api, auth.world.ids.member, auth.world.ids.club)
    const fields = { grant_type: deviceGrant, device_code: begun.json.device_code }
    expect((await auth.token(fields, basic(client))).status).toBe(200)
  })

  it('is refused beside the id of another client, and as an unknown one; its tokens stay', async () => {
    const other = await register(auth.world)
    const { refresh_token } = await tokensOf()
    const renewal = { grant_type: 'refresh_token', refresh_token }
    for (const [more, headers] of [
      [{ client_id: other }, basic(client)],
      [{ client_id: client }, basic(other)],
      [{}, basic('nobody')],
      [{}, basic(other)],
      [{}, { authorization: `Basic ${Buffer.from(client).toString('base64')}` }],
      [{}, basic(client, 'secret')],
    ] as const) {
      const answer = await auth.token({ ...renewal, ...more }, headers)
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
    }
    expect((await auth.refresh(client, refresh_token)).status).toBe(200)
  })
})

it('a client with a secret is refused with an empty one', async () => {
  const confidential = await register(auth.world, { authentication: 'client_secret' })
  const answer = await auth.token({ grant_type: 'client_credentials', organisation: 'x' }, basic(confidential))
  expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request'])
})

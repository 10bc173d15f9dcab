import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { startAuthWorld } from './auth-world.ts'

const HOURS_S = 7_200

// The clock that is moved is the database's, by which a node goes; oidc-provider has that of the machine.
it.each([HOURS_S, -HOURS_S])(
  'a node whose clock is %i s off issues tokens that hold by the right one',
  async (seconds) => {
    const { world, client, toTokens, refresh } = await startAuthWorld()
    world.advance(seconds)
    const before = world.now()
    const { member, club } = world.ids
    const tokens = await toTokens({ client, scope: 'svc.me.profile:read' }, member, club)
    const renewed = (await refresh(client, tokens.refresh_token)).json
    for (const { access_token: token, expires_in } of [tokens, renewed]) {
      const { iat, exp } = decodeJwt(token)
      expect(exp! - iat!).toBe(expires_in)
      // Two readings of seconds, rounded.
      expect(iat).toBeGreaterThanOrEqual(before - 1)
      expect(iat).toBeLessThanOrEqual(world.now() + 1)
      expect((await world.call('GET', '/me/profile', { token })).status).toBe(200)
    }
    await world.close()
  },
)

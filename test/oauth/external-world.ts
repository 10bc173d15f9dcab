import pino from 'pino'
import { onTestFinished } from 'vitest'
import { memberScopes } from '../../routers/scopes.ts'
import type { ExternalIssuer } from '../../server/tokens/external-issuer.ts'
import { openExternalIssuer, PACE } from '../../server/tokens/external-issuer.ts'
import type { AtEnd } from '../process/service.ts'
import { startWorld } from '../support/world.ts'
import type { Issuer } from './loopback-issuer.ts'
import { loopbackIssuer } from './loopback-issuer.ts'

export const AUDIENCE = 'https://api.example.org'

interface Options {
  issuer?: Issuer
  settings?: Partial<ExternalIssuer>
  pace?: Partial<typeof PACE>
  onLog?: (line: string) => void
  atEnd?: AtEnd
}

/** A service that believes an issuer, and how that issuer signs for the world's member. Both end with the test, or as is said. */
export async function outsideWorld({ issuer: given, settings, pace, onLog, atEnd = onTestFinished }: Options = {}) {
  const issuer = given ?? (await loopbackIssuer())
  let outside!: Awaited<ReturnType<typeof openExternalIssuer>>
  const world = await startWorld({
    async outside(now, db) {
      const log = pino({ level: onLog ? 'info' : 'silent' }, { write: (line) => onLog?.(line) })
      outside = await openExternalIssuer(
        {
          issuer: issuer.issuer,
          jwksUrl: undefined,
          type: 'at+jwt',
          audiences: { apps: AUDIENCE, lms: AUDIENCE, notify: AUDIENCE },
          claims: { member: 'sub', organisation: 'organisation', client: 'client_id', scope: 'scope' },
          ...settings,
        },
        { db, now, log, pace: { ...PACE, ...pace } },
      )
      return outside.rules
    },
  })
  atEnd(async () => {
    outside.close()
    await world.close()
    await issuer.down()
  })

  const token = (claims: Record<string, unknown> = {}, ...more: [header?: Record<string, unknown>, key?: Key]) =>
    issuer.sign(
      {
        sub: world.ids.member,
        organisation: world.ids.club,
        client_id: world.ids.client,
        scope: memberScopes.join(' '),
        aud: AUDIENCE,
        iat: world.now(),
        exp: world.now() + 3600,
        // No two are the same, so that none was remembered.
        jti: crypto.randomUUID(),
        ...claims,
      },
      ...more,
    )
  return {
    world,
    issuer,
    ready: outside.ready,
    stop: outside.close,
    token,
    /** The answer of `GET /` to a token, by default a new one of the newest key. */
    ask: async (given?: string) => world.call('GET', '/', { token: given ?? (await token()) }),
  }
}

type Key = Parameters<Issuer['sign']>[2]

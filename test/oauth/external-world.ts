import pino from 'pino'
import { onTestFinished } from 'vitest'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import type { ExternalIssuerSettings } from '../../server/tokens/external-issuer.ts'
import { openExternalIssuer } from '../../server/tokens/external-issuer.ts'
import { INTERVALS } from '../../server/tokens/external-keys.ts'
import type { AtEnd } from '../support/databases.ts'
import { suiteLimits } from '../support/time-limits.ts'
import { startWorld } from '../support/world.ts'
import type { Issuer } from './loopback-issuer.ts'
import { loopbackIssuer } from './loopback-issuer.ts'

const AUDIENCE = 'https://api.example.org'

interface Options {
  issuer?: Issuer
  settings?: Partial<ExternalIssuerSettings>
  intervals?: Partial<typeof INTERVALS>
  /** For the issuer's documents together. */
  issuerMs?: number
  onLog?: (line: string) => void
  atEnd?: AtEnd
}

/** A service that trusts an external issuer, and that issuer's tokens for the world's member. Both are closed `atEnd`. */
export async function externalWorld({
  issuer: given,
  settings,
  intervals,
  issuerMs = suiteLimits.issuerMs,
  onLog,
  atEnd = onTestFinished,
}: Options = {}) {
  const issuer = given ?? (await loopbackIssuer())
  let external!: Awaited<ReturnType<typeof openExternalIssuer>>
  const world = await startWorld({
    async externalIssuer(now, db) {
      const log = pino({ level: onLog ? 'info' : 'silent' }, { write: (line) => onLog?.(line) })
      external = await openExternalIssuer(
        {
          issuer: issuer.issuer,
          jwksUrl: undefined,
          type: 'at+jwt',
          audiences: { apps: AUDIENCE, lms: AUDIENCE, notify: AUDIENCE },
          claims: { member: 'sub', organisation: 'organisation', client: 'client_id', scope: 'scope' },
          ...settings,
        },
        { db, now, log, intervals: { ...INTERVALS, unknownKeyMs: 0, ...intervals }, issuerMs },
      )
      return external.trusted
    },
  })
  atEnd(async () => {
    external.close()
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
        // Each token differs, so none is answered from the cache.
        jti: crypto.randomUUID(),
        ...claims,
      },
      ...more,
    )
  return {
    world,
    issuer,
    ready: external.ready,
    stop: external.close,
    token,
    /** Calls `GET /`, by default with a new token signed by the newest key. */
    ask: async (given?: string) => world.call('GET', '/', { token: given ?? (await token()) }),
  }
}

type Key = Parameters<Issuer['sign']>[2]

import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { developmentIssuer, developmentKey } from '../tokens/development.ts'
import { openExternalIssuer } from '../tokens/external-issuer.ts'
import type { Config } from './config.ts'
import type { OwnIssuer } from './own-issuer.ts'

interface Parts {
  db: Database
  now: () => number
  log: Logger
  issuerMs: number
}

/** The issuers whose tokens are accepted: the external one if configured, else the service itself, and the development key's. */
export async function openTrustedIssuers(
  { externalIssuer, dataDir, developmentTokens, production }: Config,
  own: OwnIssuer | null,
  parts: Parts,
) {
  if (externalIssuer) {
    const { trusted, ...rest } = await openExternalIssuer(externalIssuer, parts)
    return { trusted: [trusted], ...rest }
  }
  if (developmentTokens && production) {
    parts.log.warn('DEVELOPMENT_TOKENS=true: tokens of the development key in DATA_DIR are accepted')
  }
  const trusted = [
    ...(own?.trusted ?? []),
    ...(developmentTokens ? [developmentIssuer(await developmentKey(dataDir))] : []),
  ]
  return { trusted, ready: () => true, readAt: () => undefined, close: () => {} }
}

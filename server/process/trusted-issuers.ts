import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import type { Oauth } from '../oauth/open.ts'
import { developmentIssuer, developmentKey } from '../tokens/development.ts'
import { openExternalIssuer } from '../tokens/external-issuer.ts'
import type { Config } from './config.ts'

interface Parts {
  db: Database
  now: () => number
  log: Logger
}

/** The issuers whose tokens are accepted: the external one if configured, else ours and the development key. */
export async function openTrustedIssuers(
  { externalIssuer, dataDir, production }: Config,
  oauth: Oauth | null,
  parts: Parts,
) {
  if (externalIssuer) {
    const { trusted, ready, close } = await openExternalIssuer(externalIssuer, parts)
    return { trusted: [trusted], ready, close }
  }
  if (production) parts.log.warn('TOKEN_ISSUER is not set: tokens of the development key in DATA_DIR are accepted')
  const development = developmentIssuer(await developmentKey(dataDir))
  return { trusted: oauth ? [oauth.trusted, development] : [development], ready: () => true, close: () => {} }
}

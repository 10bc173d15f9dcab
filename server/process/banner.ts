import { isIPv6 } from 'node:net'
import type { Database } from '../../prisma/client.ts'
import { memberScopes } from '../../routers/scopes.ts'
import { developmentKey, mintToken } from '../tokens/development.ts'
import type { Config } from './config.ts'

interface Running {
  store: { db: Database; embedded: { directory: string; notice?: string } | null }
  publicPort: number
  internalPort: number
  exampleUrl?: string | undefined
}

/** The text on stdout once the service listens: its addresses, and a line to paste. */
export async function banner(
  config: Config,
  { store, publicPort, internalPort, exampleUrl }: Running,
): Promise<string> {
  const { host, internalHost } = config
  const { apps, lms, notify } = config.baseUrls
  const lines = [
    `apps    ${apps}`,
    `lms     ${lms}`,
    `notify  ${notify}`,
    `tRPC    http://${hostToCall(internalHost)}:${internalPort}/trpc`,
    `ports   ${publicPort} (public) on ${interfaceOf(host)}, ${internalPort} (internal) on ${interfaceOf(internalHost)}`,
    `data    ${store.embedded?.directory ?? 'the database of DATABASE_URL'}`,
  ]
  if (store.embedded?.notice) lines.push(store.embedded.notice)
  const curl = await demoLine(config, store.db)
  if (curl) lines.push('', `A member's profile, as an app sees it:`, curl)
  if (exampleUrl) lines.push('', `Sign a member in, as an app does: ${exampleUrl}`)
  return `\n${lines.join('\n')}\n\n`
}

const isEvery = (host: string | undefined) => host === undefined || host === '::' || host === '0.0.0.0'

const interfaceOf = (host: string | undefined) => (isEvery(host) ? 'every interface' : host)

/** The host under which this machine reaches a port of `host`. */
function hostToCall(host: string) {
  if (isEvery(host) || host === '127.0.0.1') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}

/** A curl line with a token for the demo data; undefined when that is not loaded or such tokens are not accepted. */
async function demoLine({ baseUrls, dataDir, developmentTokens, production }: Config, db: Database) {
  if (!developmentTokens || production) return undefined
  const [member, client] = ['anna', 'trainer-app']
  const loaded = await db.client.count({ where: { id: client } })
  if (loaded === 0) return undefined
  const token = await mintToken(await developmentKey(dataDir), {
    member,
    organisation: 'riverside',
    client,
    scope: memberScopes.join(' '),
    expiresInSeconds: 3600,
  })
  return `curl -H 'Authorization: Bearer ${token}' ${baseUrls.apps}/me/profile`
}

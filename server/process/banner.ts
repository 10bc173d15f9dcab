import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import { isEmpty } from '../../prisma/seed.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { toIssuer } from '../browser/addresses.ts'
import type { LocalUrls } from '../http/match-route.ts'
import { developmentKey, mintToken } from '../tokens/development.ts'
import type { Config } from './config.ts'
import { isEveryInterface } from './setting-rules.ts'
import { toTrpcUrl } from './trpc-url.ts'
import { hasSignIn, SIGN_IN_SETTINGS } from './warnings.ts'

/** An operator's next steps for a database without organisations, one sentence each; empty otherwise. */
async function firstSteps(config: Config, db: Database): Promise<string[]> {
  if (!(await isEmpty(db))) return []
  const files = 'organisations.ndjson people.ndjson memberships.ndjson'
  const demo = config.production ? '' : ', or a demo club: npx member-apps seed'
  return [
    `Load the platform's data: npx member-apps import ${files}${demo}`,
    `Register a client: npx member-apps client add --id first-app --name "First app" --team first-team --team-name "First team" --level hobby --redirect https://app.example.org/ --scope "svc.me.profile:read"`,
    signIn(config),
  ]
}

function signIn(config: Config): string {
  const { tokenIssuer, authBaseUrl, developmentTokens } = config
  if (tokenIssuer !== undefined) return `Sign in a member at ${tokenIssuer}, which issues the tokens.`
  if (hasSignIn(config)) return `Sign in a member, without an app: ${toIssuer(authBaseUrl)}/connected`
  const token = 'npx member-apps token --member MEMBER --club CLUB --client first-app'
  return `Sign in a member: first set ${SIGN_IN_SETTINGS}${developmentTokens ? `; without that, a token: ${token}` : '.'}`
}

interface Running {
  store: { db: Database; embedded: { directory: string; notice?: string } | null }
  publicPort: number
  internalPort: number
  localUrls?: LocalUrls | undefined
  exampleUrl?: string | undefined
}

/** Prints the service's addresses, and next steps for an empty database; in production, as log lines. */
export async function announce(config: Config, running: Running, log: Logger): Promise<void> {
  const steps = await firstSteps(config, running.store.db)
  if (!config.production) {
    process.stdout.write(await banner(config, running, steps))
    return
  }
  const { ports, data, ...addresses } = facts(config, running)
  log.info({ ...addresses, ports, data, notice: running.store.embedded?.notice }, 'the service listens')
  if (steps.length > 0) log.info({ steps }, EMPTY)
}

const EMPTY = 'The database is empty. What to do next:'

function facts({ host, internalHost, baseUrls }: Config, { store, publicPort, internalPort }: Running) {
  return {
    ...baseUrls,
    tRPC: toTrpcUrl(internalHost, internalPort),
    ports: `${publicPort} (public) on ${describeInterface(host)}, ${internalPort} (internal) on ${describeInterface(internalHost)}`,
    data: store.embedded?.directory ?? 'the database of DATABASE_URL',
  }
}

async function banner(config: Config, running: Running, steps: readonly string[]): Promise<string> {
  const { store, localUrls, exampleUrl } = running
  const lines = Object.entries(facts(config, running)).map(([name, fact]) => `${name.padEnd(7)} ${fact}`)
  if (store.embedded?.notice) lines.push(store.embedded.notice)
  if (localUrls) lines.push('', `For programs that do not find these hosts: ${Object.values(localUrls).join(' ')}`)
  const curl = await demoLine(config, store.db)
  if (curl) lines.push('', `A member's profile, as an app sees it:`, curl)
  if (exampleUrl) lines.push('', `Sign a member in, as an app does: ${exampleUrl}`)
  if (steps.length > 0) lines.push('', EMPTY, ...steps.map((step, i) => `${i + 1}. ${step}`))
  return `\n${lines.join('\n')}\n\n`
}

const describeInterface = (host: string | undefined) => (isEveryInterface(host) ? 'every interface' : host)

const findClient = statement('banner_client', 'SELECT id FROM "Client" WHERE id = $id', { id: text }, { id: text })

/** A curl line with a token for the demo data; undefined when there is no demo data or such tokens are not accepted. */
async function demoLine({ baseUrls, dataDir, developmentTokens, production }: Config, db: Database) {
  if (!developmentTokens || production) return undefined
  const [member, client] = ['anna', 'trainer-app']
  const loaded = await db.execute(findClient, { id: client })
  if (loaded.length === 0) return undefined
  const token = await mintToken(await developmentKey(dataDir), {
    member,
    organisation: 'riverside',
    client,
    scope: memberScopes.join(' '),
    expiresInSeconds: 3600,
  })
  return `curl -H 'Authorization: Bearer ${token}' ${baseUrls.apps}/me/profile`
}

import { importJWK } from 'jose'
import { inject, TestRunner } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { developmentIssuer } from '../../server/tokens/development.ts'
import type { Call, Reply } from './request.ts'
import { send } from './request.ts'
import { createTenant } from './tenant.ts'
import { tenantCalls, hosts as testHosts } from './tenant-calls.ts'
import { openTestDatabase } from './test-database.ts'
import type { startWorld as startInProcess, World } from './world.ts'

/** Whether these options ask for no more than a trial has by itself. */
const asTrial = ({ auth = {}, localUrls: _, ...others }: NonNullable<Parameters<typeof startInProcess>[0]>) =>
  Object.keys(auth).length + Object.keys(others).length === 0

/** One for all tests of a worker process; it ends with the process. */
let shared: Database | undefined
export const sharedDatabase = () => (shared ??= openTestDatabase(inject('databaseUrl')))

/** Takes the place of that of world.ts in the project `address`: a tenant of its own in a service that runs there. */
export const startWorld: typeof startInProcess = async (options = {}) => {
  if (!asTrial(options)) return withFields({})
  const { hosts, port, internalPort, key } = inject('address')
  const db = sharedDatabase()
  const ids = await createTenant(db)
  const { issuer, audience } = developmentIssuer(key)
  const privateKey = await importJWK(key)
  const calls = tenantCalls({
    ids,
    issuer: { issuer, audience, key: privateKey as never, kid: key.kid! },
    brand: 'the service',
    now: Date.now,
    send: renamed(port, hosts),
  })
  const internal: World['internal'] = (method, path, call = {}) => send(internalPort!, method, path, call)
  return withFields({ db, ids, hosts, publicPort: port, ...calls, ...(internalPort && { internalPort, internal }) })
}

/** Sends to the service's hosts what tests send to theirs, and gives its answers with their names. */
function renamed(port: number, hosts: World['hosts']) {
  const names = Object.entries(hosts).map(([name, own]) => [own, testHosts[name as keyof typeof testHosts]] as const)
  const rename = (text: string) => names.reduce((all, [own, name]) => all.replaceAll(own, name), text)
  return async (method: string, path: string, call: Call): Promise<Reply> => {
    const [own = call.headers!.host!] = names.find(([, name]) => name === call.headers!.host) ?? []
    const reply = await send(port, method, path, { ...call, headers: { ...call.headers, host: own } })
    const text = rename(reply.text)
    const body = text === reply.text ? reply.body : typeof reply.body === 'string' ? text : JSON.parse(text)
    return { ...reply, text, body, headers: JSON.parse(rename(JSON.stringify(reply.headers))) }
  }
}

const everyField: Record<keyof World, true> = {
  db: true,
  core: true,
  memory: true,
  longPollSlots: true,
  requestLog: true,
  ids: true,
  oauth: true,
  secretsKeys: true,
  hosts: true,
  token: true,
  send: true,
  publicPort: true,
  internalPort: true,
  now: true,
  advance: true,
  principal: true,
  call: true,
  internal: true,
  close: true,
}

/** A world of these fields: a test that reads another one needs the process itself, and is skipped. */
function withFields(fields: Partial<World>): World {
  const all = { close: async () => {}, ...fields }
  const missing = Object.keys(everyField).filter((name) => !(name in all))
  const getters = missing.map((name) => [name, { get: () => skip(name), enumerable: true }] as const)
  return Object.defineProperties(all, Object.fromEntries(getters)) as World
}

function skip(name: string): never {
  const reason = `\`${name}\` needs a service in the process of the tests`
  TestRunner.getCurrentTest()?.context.skip(reason)
  throw new Error(reason)
}

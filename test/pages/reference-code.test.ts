import { beforeAll, describe, expect, it } from 'vitest'
import { createClient as createFirstParty } from '../../clients/first-party/client.ts'
import { createClient as createSdk } from '../../clients/sdk/client.ts'
import { seed } from '../../prisma/seed.ts'
import { toOperationId } from '../../rest-facade/document.ts'
import { documents } from '../../rest-facade/openapi.ts'
import { procedures } from '../../routers/index.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { readDefinition } from '../../routers/kernel/trpc-internals.ts'
import { endAfterAll } from '../support/after-all.ts'
import { demoConsent } from '../support/app-server.ts'
import { migratedDatabase } from '../support/databases.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { send } from '../support/request.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { printedCalls, runPrinted } from './printed-code.ts'

const organisations = { apps: 'riverside', lms: 'academy', notify: 'provider' }
const clients = { fetch: undefined, sdk: createSdk, trpc: createFirstParty } as const
type Language = keyof typeof clients

let world: World
const atEnd = endAfterAll()
beforeAll(async () => {
  const databaseUrl = await migratedDatabase(atEnd)
  const db = openTestDatabase(databaseUrl)
  await seed(db, new Date(), memberScopesAt)
  await db.consent.create({ data: demoConsent }).finally(() => db.$disconnect())
  const localUrls = localUrlsAt('http://127.0.0.1')
  world = await startWorld({ databaseUrl, localUrls })
  atEnd(() => world.close())
})

describe.each(['apps', 'lms', 'notify', 'sync'] as const)('the code of %s', (api) => {
  const calls = async () => {
    const headers = { host: '127.0.0.1' }
    const { text } = await send(world.publicPort, 'GET', `/${api}/v1/docs`, { headers })
    return printedCalls(text)
  }
  /** For the organisation of an operation. */
  const token = (id: string) => {
    const name = Object.keys(procedures).find((one) => toOperationId(one) === id)!
    const { section, appItself } = readDefinition(procedures[name]!).meta.policy.requires
    const sub = appItself === 'required' ? undefined : 'anna'
    return world.token({ sub, organisation: organisations[section], client_id: 'trainer-app', scope: scopes })
  }
  const scopes = memberScopesAt('developer').join(' ')
  /** At the ports of this service, which has the demo data. */
  const run = async (id: string, code: string, language: Language) =>
    runPrinted(
      code
        .replace('http://127.0.0.1/', `http://127.0.0.1:${world.publicPort}/`)
        .replace('localhost:3001', `127.0.0.1:${world.internalPort}`),
      clients[language],
      await token(id),
    )

  // The SDK has no function of sync yet.
  const written = api === 'sync' ? (['fetch', 'trpc'] as const) : (['fetch', 'sdk', 'trpc'] as const)

  it('is in each language for each operation', async () => {
    const printed = await calls()
    const operations = Object.values(documents()[api].paths).flatMap((methods) => Object.values(methods))
    expect(printed.map(({ id }) => id)).toEqual(operations.map(({ operationId }) => operationId))
    for (const { code } of printed) expect(Object.keys(code)).toEqual(['curl', ...written])
  })

  it('gets the same answer over fetch, the SDK and tRPC', async () => {
    const printed = await calls()
    const put = printed.find(({ id }) => ['storagePut', 'webhook-put'].includes(id))
    for (const { id, code } of printed) {
      const answers: Partial<Record<Language, unknown>> = {}
      for (const language of written) {
        if (put) await run(id, put.code.fetch!, 'fetch')
        answers[language] = steady(await run(id, code[language]!, language))
      }
      expect([id, answers.trpc]).toEqual([id, answers.fetch])
      // Whether the key existed.
      if ('sdk' in answers) expect([id, answers.sdk]).toEqual([id, id === 'storage-delete' ? undefined : answers.fetch])
    }
  })
})

/** Without what differs from call to call, and the SDK's `etag`. */
const steady = (answer: unknown) =>
  answer === undefined
    ? undefined
    : JSON.parse(
        JSON.stringify(answer, (key, value) =>
          ['cursor', 'etag', 'updatedAt'].includes(key) || (key === 'id' && /^[\da-f-]{36}$/.test(value))
            ? undefined
            : value,
        ),
      )

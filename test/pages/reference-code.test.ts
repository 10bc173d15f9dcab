import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { createClient as createFirstParty } from '../../clients/first-party/client.ts'
import { createClient as createSdk } from '../../clients/sdk/client.ts'
import { seed } from '../../prisma/seed.ts'
import { toOperationId } from '../../rest-facade/document.ts'
import { documents } from '../../rest-facade/openapi.ts'
import { procedures } from '../../routers/index.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { readDefinition } from '../../routers/kernel/trpc-internals.ts'
import { languages as named } from '../../server/reference/languages.ts'
import { endAfterAll } from '../support/after-all.ts'
import { demoConsent } from '../support/app-server.ts'
import { migratedDatabase } from '../support/databases.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { send } from '../support/request.ts'
import { putAddress } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { printedCalls, runPrinted } from './printed-code.ts'

const organisations = { apps: 'riverside', lms: 'academy', notify: 'provider' }
const clients = { javascript: undefined, sdk: createSdk, trpc: createFirstParty } as const
type Language = keyof typeof clients

const run = promisify(execFile)
let world: World
const atEnd = endAfterAll()
beforeAll(async () => {
  const databaseUrl = await migratedDatabase(atEnd)
  const db = openTestDatabase(databaseUrl)
  await seed(db, new Date(), memberScopesAt)
  await db.consent.create({ data: demoConsent }).finally(() => db.$disconnect())
  const localUrls = localUrlsAt('http://127.0.0.1')
  world = await startWorld({ databaseUrl, localUrls, auth: {} })
  atEnd(() => world.close())
})

/** At localhost, where each API has a path. */
const openReference = (api: string, query: string, headers = {}) =>
  send(world.publicPort, 'GET', `/${api}/v1/docs${query}`, { headers: { host: '127.0.0.1', ...headers } })
/** With the port of this service. */
const here = (code: string) => code.replace('http://127.0.0.1/', `http://127.0.0.1:${world.publicPort}/`)
const scopes = memberScopesAt('developer').join(' ')

describe.each(['apps', 'lms', 'notify', 'sync'] as const)('the code of %s', (api) => {
  const open = (query: string, headers = {}) => openReference(api, query, headers)
  const calls = (languages: readonly string[] = Object.keys(named)) =>
    printedCalls(async (query) => (await open(query)).text, languages)
  /** For the organisation of an operation. */
  const token = (id: string) => {
    const name = Object.keys(procedures).find((one) => toOperationId(one) === id)!
    const { section, appItself } = readDefinition(procedures[name]!).meta.policy.requires
    const sub = appItself === 'required' ? undefined : 'anna'
    return world.token({ sub, organisation: organisations[section], client_id: 'trainer-app', scope: scopes })
  }
  /** At the ports of this service, which has the demo data. */
  const runAs = async (id: string, code: string, language: Language) =>
    runPrinted(
      here(code).replace('localhost:3001', `127.0.0.1:${world.internalPort}`),
      clients[language],
      await token(id),
    )

  // The SDK has no function of sync yet.
  const written = api === 'sync' ? (['javascript', 'trpc'] as const) : (['javascript', 'sdk', 'trpc'] as const)

  it('is in the language of the address, which a cookie keeps, and in curl for an invalid one', async () => {
    const shown = ({ text }: { text: string }) => /data-code="(\w+)"/.exec(text)?.[1]
    const python = await open('?code=python')
    expect(shown(python)).toBe('python')
    const cookies = [python.headers['set-cookie']].flat()
    expect(cookies).toEqual(['code=python; path=/; max-age=31536000; samesite=lax; httponly'])
    expect(python.headers.vary).toContain('Cookie')
    for (const [query, kept, expected] of [
      ['', 'code=python', 'python'],
      ['', 'code=cobol', 'curl'],
      ['', '', 'curl'],
      ['?code=go', 'code=python', 'go'],
      ['?code=', 'code=python', 'curl'],
      ['?code=constructor', 'code=python', 'curl'],
      ['?code=python%0d%0aset-cookie:%20a=b', '', 'curl'],
      // The answer to a sign-in.
      ['?code=kotlin&state=s', 'code=python', 'python'],
    ] as const) {
      const page = await open(query, { cookie: kept })
      expect([query, kept, shown(page)]).toEqual([query, kept, expected])
      expect(page.headers['set-cookie'] !== undefined).toBe(query === '?code=go')
    }
  })

  it('is on pages of at most 20 kB in gzip', async () => {
    for (const language of Object.keys(named)) {
      const { text } = await open(`?code=${language}`)
      expect(gzipSync(text).length, language).toBeLessThanOrEqual(20_000)
    }
  })

  it('is in each language for each operation', async () => {
    const printed = await calls()
    const operations = Object.values(documents()[api].paths).flatMap((methods) => Object.values(methods))
    expect(printed.map(({ id }) => id)).toEqual(operations.map(({ operationId }) => operationId))
    const expected = Object.keys(named).filter((language) => language !== 'sdk' || api !== 'sync')
    for (const { id, code } of printed) expect([id, Object.keys(code)]).toEqual([id, expected])
  })

  it('gets the same answer over JavaScript, the SDK and tRPC', async () => {
    const printed = await calls(written)
    const put = printed.find(({ id }) => ['storagePut', 'webhook-put'].includes(id))
    // A pass is a file.
    for (const { id, code } of printed.filter(({ id }) => id !== 'cardPass')) {
      const answers: Partial<Record<Language, unknown>> = {}
      for (const language of written) {
        if (put) await runAs(id, put.code.javascript!, 'javascript')
        const [, address] = /addresses\/([\w-]+)/.exec(code.javascript!) ?? []
        if (address) await putAddress(world.core, 'trainer-app', address)
        answers[language] = steady(await runAs(id, code[language]!, language))
      }
      expect([id, answers.trpc]).toEqual([id, answers.javascript])
      // Whether the key existed.
      if ('sdk' in answers)
        expect([id, answers.sdk]).toEqual([id, id === 'storage-delete' ? undefined : answers.javascript])
    }
  })
})

/** How a program with a `token` runs, and what says that it can. */
const programs = {
  curl: { check: ['curl', '--version'], toCommand: (code: string) => ['bash', '-c', code] },
  python: {
    check: ['python3', '-c', 'import requests'],
    toCommand: (code: string) => ['python3', '-c', `import os\ntoken = os.environ['TOKEN']\n${code}`],
  },
  php: {
    check: ['php', '-r', 'exit(extension_loaded("curl") ? 0 : 1);'],
    toCommand: (code: string) => ['php', '-r', code.replace('<?php', '$token = getenv("TOKEN");')],
  },
}

describe.each(Object.keys(programs) as (keyof typeof programs)[])('the code in %s', (language) => {
  const { check, toCommand } = programs[language]
  const isThere = spawnSync(check[0]!, check.slice(1)).status === 0

  it.skipIf(!isThere)('gets the answers of apps as it is printed', async () => {
    const printed = await printedCalls(
      async (query) => (await openReference('apps', query)).text,
      ['javascript', language],
    )
    const member = { sub: 'anna', organisation: 'riverside', client_id: 'trainer-app', scope: scopes }
    const token = await world.token(member)
    const [put, ...gets] = ['PUT', 'GET'].flatMap((method) =>
      printed.filter(({ code }) => (/method: '(\w+)'/.exec(code.javascript!)?.[1] ?? 'GET') === method),
    )
    expect([put!.id, gets.length]).toEqual(['storagePut', 9])
    for (const { id, code } of [put!, ...gets]) {
      const answer = await runPrinted(here(code.javascript!), undefined, token)
      const [program, ...words] = toCommand(here(code[language]!))
      const { stdout } = await run(program!, words, { env: { ...process.env, TOKEN: token } })
      expect([id, steady(JSON.parse(stdout))]).toEqual([id, steady(answer)])
    }
  })
})

/** Without what differs from call to call, and the SDK's `etag`. */
const steady = (answer: unknown) =>
  answer === undefined
    ? undefined
    : JSON.parse(
        JSON.stringify(answer, (key, value) =>
          ['cursor', 'etag', 'updatedAt', 'url', 'code'].includes(key) ||
          (key === 'id' && /^[\da-f-]{36}$/.test(value)) ||
          (key === 'validUntil' && typeof value === 'number')
            ? undefined
            : value,
        ),
      )

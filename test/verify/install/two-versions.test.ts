import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readMigrations } from '../../../prisma/migration-files.ts'
import { toOperationId } from '../../../rest-facade/document.ts'
import type { Section, TokenSection } from '../../../routers/kernel/scopes.ts'
import { firstPartyScopes } from '../../../routers/kernel/scopes.ts'
import { names, operations } from '../../process/operations.ts'
import type { Answer, Service } from '../../process/service.ts'
import { command, dataDirectory, run, send, start } from '../../process/service.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { times } from '../../support/rounds.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { endingAfterAll } from '../at-end.ts'
import type { DemoClaims } from '../demo.ts'
import { demoToken } from '../demo.ts'
import { buildRelease, formerCommit } from './former-release.ts'

const former = await formerCommit()
const skipReason = former ? '' : ' (skipped: there is no git history with an earlier release)'
const WRITERS = 6
const ROUNDS = times(12, 4)
const QUOTA = 10_000_000
const apps = { section: 'apps', tokens: 'apps' } as const

const atEnd = endingAfterAll()

describe.skipIf(!former)(`two nodes of two versions under load${skipReason}`, () => {
  let databaseUrl = ''
  let env: Record<string, string>
  let main: string
  let nodes: Service[]
  let headers: Record<TokenSection | 'platform', Record<string, string>>
  /** The operations of both versions that members may call. */
  let shared: string[]
  const wrong = new Set<string>()

  beforeAll(async () => {
    const directory = await buildRelease(former!)
    main = join(directory, 'dist/server/main.js')
    const documents = readFileSync(join(directory, 'dist/chunks/documents.json'), 'utf8')
    // Releases before 0.1.0 have `storage-put`, this one `storagePut`.
    const toIds = (name: string) => [name.replaceAll('.', '-'), toOperationId(name)]
    const isShared = (name: string) => toIds(name).some((id) => documents.includes(`"operationId":"${id}"`))
    shared = names.filter((name) => isShared(name) && !operations[name]!.isOfApp)
    databaseUrl = await emptyDatabase(atEnd)
    const DATA_DIR = await dataDirectory(atEnd)
    env = { DATABASE_URL: databaseUrl, DATA_DIR, SECRETS_KEY, LOG_LEVEL: 'error', STORAGE_QUOTA_BYTES: String(QUOTA) }
    const seeded = await run([join(directory, 'dist/server/commands/main.js'), 'seed'], env).ended
    expect(seeded).toMatchObject({ code: 0, stderr: '' })
    await query(databaseUrl, `UPDATE "Client" SET environment = 'sandbox'`)
    const bearer = async (claims: DemoClaims) => ({
      authorization: `Bearer ${await demoToken(DATA_DIR, { client: 'trainer-app', ...claims })}`,
    })
    const platform = { client: 'platform', member: null, scope: firstPartyScopes.join(' ') }
    headers = {
      apps: await bearer({}),
      lms: await bearer({ organisation: 'academy' }),
      notify: await bearer({ organisation: 'provider' }),
      platform: await bearer({ organisation: 'provider', ...platform }),
    }
    nodes = [await start(env, { atEnd, entry: main })]
  })

  /** Notes what is no success; a cut connection counts as well. */
  async function noted(what: string, calling: Promise<Answer>): Promise<Answer | undefined> {
    try {
      const answer = await calling
      if (![200, 201, 204].includes(answer.status)) wrong.add(`${what}: ${answer.status} ${answer.text}`)
      return answer
    } catch (error) {
      wrong.add(`${what}: ${(error as Error).message}`)
      return undefined
    }
  }

  /** `tokens`: the section whose tokens an operation of `section` takes. */
  const rest = (
    turn: number,
    { section, tokens }: { section: Section; tokens: TokenSection },
    ...[method, path, body]: [method: string, path: string, body?: unknown]
  ) => {
    const node = turn % nodes.length
    const given = { headers: { ...headers[tokens], host: `${section}.localhost` }, ...(body !== undefined && { body }) }
    return noted(`node ${node}: ${method} ${path}`, send(nodes[node]!.port, method, `/v1${path}`, given))
  }
  const trpc = (turn: number, tokens: keyof typeof headers, path: string, input: unknown, isQuery: boolean) => {
    const node = turn % nodes.length
    const asked = isQuery && input !== undefined ? `?input=${encodeURIComponent(JSON.stringify(input))}` : ''
    const given = { headers: headers[tokens], ...(!isQuery && { body: input }) }
    const method = isQuery ? 'GET' : 'POST'
    return noted(`node ${node}: ${path}`, send(nodes[node]!.internalPort, method, `/trpc/${path}${asked}`, given))
  }

  /** Writes a collection of its own through either node and reads it back through the other. */
  async function writer(number: number, ended: () => boolean) {
    const collection = `two-${number}`
    const kept = new Map<string, string>()
    for (let round = 0; !ended(); round++) {
      const [key, value] = [`k${round % 7}`, `${number}-${round}-${'x'.repeat((round * 37) % 900)}`]
      const scope = number % 2 === 0 ? '' : '?scope=user'
      const path = `/storage/${collection}/${key}${scope}`
      if (round % 5 === 4 && kept.has(key)) {
        await rest(round, apps, 'DELETE', path)
        kept.delete(key)
      } else {
        await rest(round, apps, 'PUT', path, { value })
        kept.set(key, value)
        const read = await rest(round + 1, apps, 'GET', path)
        if (read?.body?.value !== value) wrong.add(`${path} is ${read?.text}, not ${value}`)
      }
      const list = await rest(round + 1, apps, 'GET', `/storage/${collection}${scope}`)
      const total = list?.body?.total
      if (total !== kept.size) wrong.add(`${collection} has ${total} entries, not ${kept.size}`)
    }
    return kept.size
  }

  /** Every operation of both versions over both ports, and the platform's own. */
  async function caller(number: number, ended: () => boolean) {
    let published = 0
    for (let round = 0; !ended(); round++) {
      // By one caller: another would delete the entry or the webhook that this one is about to read.
      for (const name of number === 0 ? shared : []) {
        const { section, tokens, method, path, body } = operations[name]!
        await rest(round, { section, tokens }, method, path, body)
      }
      for (const name of number === 0 ? shared : []) {
        const { tokens, method, input } = operations[name]!
        await trpc(round + 1, tokens, name, input, method === 'GET')
      }
      const event = { app: 'trainer-app', type: 'two.versions', data: round, id: `${number}-${round}` }
      const answer = await trpc(round + number, 'platform', 'events.publish', event, false)
      if (answer?.status === 200) published++
      await trpc(round + number, 'platform', 'deliveries.list', { event: event.id }, true)
    }
    return published
  }

  /** Until each of them has done its rounds on both nodes. */
  async function load(isShared: () => boolean) {
    const ending = (rounds: number) => () => isShared() && rounds-- === 0
    const writers = Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number, ending(4 * ROUNDS))))
    const callers = Promise.all([0, 1].map((number) => caller(number, ending(ROUNDS))))
    return { entries: await writers, published: await callers }
  }

  it('migrates under the load of the former release, and both serve: no 5xx, no wrong total', async () => {
    for (const table of ['StorageEntry', 'PublishedEvent']) await query(databaseUrl, `DELETE FROM "${table}"`)
    const subscription = { app: 'trainer-app', subscriber: 'two' }
    await trpc(0, 'platform', 'subscriptions.create', subscription, false)

    // The former release alone, while the new one migrates and starts; then both.
    const loading = load(() => nodes.length > 1)
    expect(await command('migrate', [], env).ended).toMatchObject({ code: 0, stderr: '' })
    nodes.push(await start(env, { atEnd }))
    // What the new release does by itself: housekeeping, beside the former one.
    expect(await command('clean', [], env).ended).toMatchObject({ code: 0, stderr: '' })
    const { entries, published } = await loading
    expect([...wrong]).toEqual([])
    const errors = nodes.map(({ stdout, stderr }) => [stdout().match(/"status":5\d\d/g), stderr()])
    expect(errors).toEqual(nodes.map(() => [null, '']))

    // Totals and counters, read by both and from the rows.
    for (const node of nodes.keys()) {
      for (const [number, size] of entries.entries()) {
        const list = await rest(node, apps, 'GET', `/storage/two-${number}${number % 2 === 0 ? '' : '?scope=user'}`)
        expect([node, number, list!.body.total, list!.body.items.length]).toEqual([node, number, size, size])
      }
    }
    const [{ counted, stored }] = await query(
      databaseUrl,
      `SELECT (SELECT coalesce(sum(bytes), 0)::int FROM "StorageUsage") AS counted,
         (SELECT coalesce(sum(octet_length(value)), 0)::int FROM "StorageEntry") AS stored`,
    )
    expect(stored).toBeGreaterThan(0)
    expect(counted).toBe(stored)
    const drifted = await query(
      databaseUrl,
      `SELECT kept.collection FROM "StorageCollection" kept JOIN "StorageUsage" store USING ("appId", "clubId")
       CROSS JOIN LATERAL (SELECT count(*) AS entries, sum(octet_length(value)) AS bytes FROM "StorageEntry" entry
         WHERE (entry."appId", entry."clubId", entry.owner, entry.collection)
           = (kept."appId", kept."clubId", kept.owner, kept.collection)) held
       CROSS JOIN LATERAL (SELECT count(*) AS entries FROM "StorageEntry" entry
         WHERE (entry."appId", entry."clubId") = (store."appId", store."clubId")) whole
       WHERE (kept.entries, kept.bytes) IS DISTINCT FROM (held.entries, held.bytes) OR store.entries <> whole.entries`,
    )
    expect(drifted).toEqual([])
    const sum = published.reduce((all, one) => all + one, 0)
    expect(await query(databaseUrl, `SELECT count(*)::int FROM "PublishedEvent" WHERE type = 'two.versions'`)).toEqual([
      { count: sum },
    ])
    const applied = await query(databaseUrl, 'SELECT migration_name AS name FROM "_prisma_migrations" ORDER BY 1')
    expect(applied).toEqual(expect.arrayContaining((await readMigrations()).map(({ name }) => ({ name }))))
  })

  it('starts the former release again on the new schema, as after a step back', async () => {
    const again = await start(env, { atEnd, entry: main })
    nodes = [again]
    wrong.clear()
    await rest(0, apps, 'PUT', '/storage/two-back/k', { value: 1 })
    await rest(0, apps, 'GET', '/storage/two-back')
    expect([...wrong]).toEqual([])
    expect(await again.stop()).toMatchObject({ code: 0, stderr: '' })
  })
})

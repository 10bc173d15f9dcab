import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { recordTypeNames } from '../../../routers/directory/record-types.ts'
import { sectionNames } from '../../../routers/kernel/scopes.ts'
import { memoryLimits } from '../../../server/limits/memory.ts'
import { codePoint } from '../../support/code-point.ts'
import { migratedDatabase } from '../../support/databases.ts'
import { pgClient } from '../../support/pg-client.ts'
import { asPlatform } from '../../support/platform.ts'
import { times } from '../../support/rounds.ts'
import type { World } from '../../support/world.ts'
import { startWorld } from '../../support/world.ts'
import type { Column } from './platform-rows.ts'
import { fill, platformRows, readColumns } from './platform-rows.ts'

const texts = [
  '',
  ' ',
  'x'.repeat(300),
  'ü'.repeat(200),
  '\u0001'.repeat(65_536),
  'é'.repeat(300_000),
  'other',
  '__proto__',
  'a\u0000b',
  '\u0001\u001f\u007f\u0085\u2028\u2029\ufeff\uffff',
  '\ud800 \udc00\ud800',
  '😀\u{10ffff}\u202e\u0301',
  '"\\\n</script>%00',
]
const moments = `
  infinity, -infinity, 4713-01-01 BC, 0001-12-31 23:59:59.9999 BC, 0001-01-01, 0099-02-28, 1969-12-31 23:59:59.5,
  9999-12-31 23:59:59.9996, 9999-12-31 23:59:59.999, 10000-01-01, 12000-05-05, 294276-12-31
`
  .trim()
  .split(/,\s+/)
const integers = ['0', '-1', '1', '2147483647', '-2147483648', '9007199254740993', '9223372036854775807']
const oddValues: Record<string, readonly string[]> = {
  text: texts,
  _text: ['{}', '{NULL}', '{A,NULL}', '{{A,B},{C,D}}', '[0:1]={A,B}', '{A,A,""}', `{${'x'.repeat(300_000)}}`],
  timestamptz: moments,
  date: moments,
  float8: ['NaN', 'Infinity', '-Infinity', '-0', '-1', '101', '1e308', '5e-324', '0.1'],
  int4: integers,
  int8: integers,
  bytea: ['\\x', '\\x89504e47'],
  jsonb: ['null', '1', '[]', '{"keys":1}', '{"keys":[null]}', '{"keys":[{"kty":"oct"}]}'],
}

/** In `npm test` every 32nd. */
const step = times(1, 32)

interface Change extends Column {
  value: string | null
}

const database = new Promise<string>((resolve) => {
  beforeAll(async () => resolve(await migratedDatabase(afterAll)))
})
let world: World
let client: pg.Client
let columns: Column[]
let schemas: Record<string, z.ZodType>
beforeAll(async () => {
  const databaseUrl = await database
  client = pgClient(databaseUrl)
  await client.connect()
  // The sweep sends more than the 10,000 requests a minute of a team: here a minute passes with each.
  let minutes = 0
  world = await startWorld({ databaseUrl, limits: memoryLimits(() => minutes++ * 60_000) })
  columns = await readColumns(client, platformRows(world.ids))
  schemas = await describedAnswers()
})
afterAll(async () => {
  await world.close()
  await client.end()
})

/** What the OpenAPI documents say of each endpoint's answer, by method and path. */
async function describedAnswers() {
  const found: Record<string, z.ZodType> = {}
  for (const api of sectionNames) {
    const { body } = await world.call('GET', '/openapi.json', { api, token: null })
    const { paths, components } = JSON.parse(JSON.stringify(body).replaceAll('#/components/schemas/', '#/$defs/'))
    const $defs = components.schemas
    // biome-ignore lint/suspicious/noExplicitAny: any JSON
    for (const [path, operations] of Object.entries<any>(paths)) {
      for (const [method, { responses }] of Object.entries<(typeof operations)[string]>(operations)) {
        const schema = (responses['200'] ?? responses['201'])?.content?.['application/json']?.schema
        if (schema) found[`${method.toUpperCase()} ${path}`] = z.fromJSONSchema({ ...schema, $defs })
      }
    }
  }
  return found
}

/** Whether the database takes the value; it refuses by type, by constraint, or for the size of an index row (54000). */
async function isTaken({ table, name, type, value }: Change) {
  const own = columns.some((column) => column.table === table && column.name === 'id') ? `WHERE id <> 'other'` : ''
  const whose = table === 'Organisation' ? `${own} AND kind = 'club'` : own
  const row = table === 'Client' ? `${own} AND id <> '${world.ids.platform}'` : whose
  return client.query(`UPDATE "${table}" SET "${name}" = $1::${type} ${row}`, [value]).then(
    () => true,
    (error: pg.DatabaseError) => {
      expect(error.code, `${table}.${name}: ${error.message}`).toMatch(/^(22|23|54000|P0001)/)
      return false
    },
  )
}

/** Other rows belong to the member then, or none: the documented refusals are right as well. */
const isRelation = ({ table, name }: Change) =>
  /Id$|^(leftAt|endsAt|attemptsAllowed|appId|owner|collection|key)$/.test(name) || `${table}.${name}` === 'App.id'

const own = async (sql: string) => (await client.query<{ id: string }>(sql)).rows[0]!.id

async function readEverything(mayMiss: boolean) {
  world.advance(5)
  const { rows } = await client.query(
    `SELECT (SELECT id FROM "Person" LIMIT 1) AS sub,
       (SELECT id FROM "Organisation" WHERE kind = 'club' AND id <> 'other' LIMIT 1) AS organisation,
       (SELECT id FROM "Client" WHERE id <> $1 LIMIT 1) AS client_id,
       (SELECT id FROM "Quiz" LIMIT 1) AS quiz, (SELECT id FROM "App" LIMIT 1) AS app`,
    [world.ids.platform],
  )
  const { sub, organisation, client_id, quiz, app } = rows[0]!
  const answered = async (endpoint: string, path: string, organisation: string, body?: unknown) => {
    const [method] = endpoint.split(' ')
    const claims = { sub, organisation, client_id }
    const reply = await world.call(method!, path, { claims, ...(body !== undefined && { body }) })
    // 401: of a team that ends.
    if (mayMiss && [401, 403, 404, 409, 422].includes(reply.status)) return
    expect(reply.status, `${endpoint}: ${reply.text}`).toBeLessThan(300)
    expect(schemas[endpoint]!.safeParse(JSON.parse(reply.text)).error, endpoint).toBeUndefined()
  }
  const may = Math.floor(Date.parse('2028-05-01') / 1000)
  const range = `start=${may}&end=${may + 30 * 86_400}`
  const { academy, provider } = world.ids
  // At once, as the service and the database wait for each other in each; all end before the next change.
  const reads = await Promise.allSettled([
    answered('GET /me/profile', '/me/profile', organisation),
    answered('GET /me/groups', '/me/groups', organisation),
    answered('GET /me/events', `/me/events?${range}`, organisation),
    answered('GET /me/trainingplans', '/me/trainingplans', organisation),
    answered('GET /me/competitions', '/me/competitions', organisation),
    answered('GET /me/membercard', '/me/membercard', organisation),
    answered('GET /storage/{collection}', '/storage/c', organisation),
    answered('GET /storage/{collection}/{key}', '/storage/c/k', organisation),
    answered('GET /apps/{id}/webhook', `/apps/${encodeURIComponent(app)}/webhook`, provider),
    asPlatform(world)
      .directory.people.export({ id: sub })
      .then(({ profile }) => expect(profile.id).toBe(sub)),
  ])
  for (const read of reads) if (read.status === 'rejected') throw read.reason
  await answered('PUT /storage/{collection}/{key}', '/storage/c/k', organisation, { value: [2] })
  const results = `/quizzes/${encodeURIComponent(quiz)}/results`
  await listsAndReview(app, mayMiss)
  await answered('POST /quizzes/{quizId}/results', results, academy, { answers: {} })
}

/** The first-party procedures check their output against its schema. */
async function listsAndReview(app: string, mayMiss: boolean) {
  const procedures = asPlatform(world)
  const review = asPlatform(world, { organisation: world.ids.academy }).quizzes.review
  await procedures.deliveries.list({})
  await Promise.all(recordTypeNames.map((recordType) => procedures.directory[recordType].list()))
  if (mayMiss) return
  await procedures.subscriptions.list({ app })
  const result = await own('SELECT id FROM "QuizResult"')
  const { rows } = await client.query(
    'SELECT "questionId" AS id FROM "Answer" WHERE "resultId" = $1 AND correct IS NULL',
    [result],
  )
  await review({ result, grades: Object.fromEntries(rows.map(({ id }) => [id, true])) })
}

describe('rows that somebody else has written', () => {
  it('are all read before any is changed', async () => {
    await fill(client, platformRows(world.ids))
    await readEverything(false)
  })

  it('are refused or shown as documented, each odd value of each column alone', async () => {
    const all = columns.flatMap((column) => [null, ...oddValues[column.type]!].map((value) => ({ ...column, value })))
    const faults: string[] = []
    for (const [i, change] of all.entries()) {
      if (i % step) continue
      await attack([change]).catch((error) => {
        faults.push(`${change.table}.${change.name} ${change.value?.slice(0, 30)}: ${error.message.slice(0, 200)}`)
      })
    }
    expect(faults).toEqual([])
  })

  it('are refused or shown as documented, several odd values together', async () => {
    const change = fc.constantFrom(...columns).chain((column) => {
      const odd = fc.constantFrom(null, ...oddValues[column.type]!)
      const value = column.type === 'text' ? fc.oneof(odd, fc.string({ unit: codePoint, maxLength: 40 })) : odd
      return value.map((value) => ({ ...column, value }))
    })
    const changes = fc.array(change, { minLength: 2, maxLength: 6 })
    await fc.assert(fc.asyncProperty(changes, attack), { numRuns: times(120, 15) })
  })
})

/** Whether the rows are as at the beginning: reading them all writes some. */
let filled = false

async function attack(changes: Change[]) {
  if (!filled) await fill(client, platformRows(world.ids))
  filled = true
  const taken: Change[] = []
  for (const change of changes) if (await isTaken(change)) taken.push(change)
  if (taken.length === 0) return
  filled = false
  await readEverything(taken.some(isRelation))
}

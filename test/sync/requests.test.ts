import { describe, expect, it } from 'vitest'
import { table } from '../support/markdown-table.ts'
import { useWorld } from '../support/started.ts'

const world = useWorld()

const NAME = "Names use 1 to 64 letters, digits, '_' or '-'."
const PREFIX = "prefix has 1 to 64 letters, digits, '_' or '-'."
const CURSOR = 'since is not a cursor of this collection.'

/** As in the storage, but for what it does not have. */
const requests = table<'Request' | 'Answer'>(`
  | Request                                | Answer                  |
  |----------------------------------------|-------------------------|
  | /collections                           | 200                     |
  | /collections?limit=1                   | 200                     |
  | /collections?limit=200                 | 200                     |
  | /collections?limit=0                   | limit is 1 to 200.      |
  | /collections?limit=201                 | limit is 1 to 200.      |
  | /collections?limit=                    | limit is 1 to 200.      |
  | /collections?limit=1&limit=1           | limit is 1 to 200.      |
  | /collections?limit=1.0                 | limit is 1 to 200.      |
  | /collections?limit=007                 | limit is 1 to 200.      |
  | /collections?limit=99999999999999999999 | limit is 1 to 200.     |
  | /collections?scope=user                | 200                     |
  | /collections?scope=                    | scope is org or user.   |
  | /collections?scope=Org                 | scope is org or user.   |
  | /collections?scope=org&%73cope=org     | scope is org or user.   |
  | /collections?after=a                   | 200                     |
  | /collections?after=                    | NAME                    |
  | /collections?after=..                  | NAME                    |
  | /collections?after=%00                 | NAME                    |
  | /collections?after=a&after=b           | NAME                    |
  | /collections?unknown=1&__proto__=2     | 200                     |
  | /collections?prefix=a.b&values=no      | 200                     |
  | /collections/c/entries                 | 200                     |
  | /collections/c/entries?limit=0         | limit is 1 to 200.      |
  | /collections/c/entries?limit=%2B5      | limit is 1 to 200.      |
  | /collections/c/entries?scope=club      | scope is org or user.   |
  | /collections/c/entries?after=a%2Fb     | NAME                    |
  | /collections/c/entries?after=a&after=a | NAME                    |
  | /collections/c/entries?prefix=         | PREFIX                  |
  | /collections/c/entries?prefix=aZ0_-    | 200                     |
  | /collections/c/entries?prefix=a.       | PREFIX                  |
  | /collections/c/entries?prefix=%25      | PREFIX                  |
  | /collections/c/entries?prefix=~        | PREFIX                  |
  | /collections/c/entries?prefix=%C3%A4   | PREFIX                  |
  | /collections/c/entries?prefix=a&prefix=a | PREFIX                |
  | /collections/c/entries?values=true     | 200                     |
  | /collections/c/entries?values=false    | 200                     |
  | /collections/c/entries?values=         | values is true or false. |
  | /collections/c/entries?values=False    | values is true or false. |
  | /collections/c/entries?values=0        | values is true or false. |
  | /collections/c/entries?values=false&values=false | values is true or false. |
  | /collections/c/entries?offset=-1       | 200                     |
  | /collections/c/changes?since=          | CURSOR                  |
  | /collections/c/changes?since           | CURSOR                  |
  | /collections/c/changes?since=&since=   | CURSOR                  |
  | /collections/../entries                | NAME                    |
  | /collections//entries                  | NAME                    |
  | /collections/a.b/entries?scope=x       | NAME                    |
  | /collections/%zz/entries               | NAME                    |
  | /collections/a%00/entries              | NAME                    |
  | /collections/a%2Fb/entries             | NAME                    |
  | /collections/%63/entries               | 200                     |
`)

const sentences: Record<string, string> = { NAME, PREFIX, CURSOR }

/** Everything stored for the app. */
const stored = () =>
  Promise.all([
    world.db.storageEntry.findMany({ where: { appId: world.ids.app } }),
    world.db.storageCollection.findMany({ where: { appId: world.ids.app } }),
    world.db.storageUsage.findMany({ where: { appId: world.ids.app } }),
  ])

describe('a request', () => {
  it.each(requests)('GET $Request returns: $Answer', async ({ Request, Answer }) => {
    await world.call('PUT', '/storage/c/k', { body: { value: 1 } })
    const before = await stored()
    const reply = await world.call('GET', Request)
    if (Answer === '200') expect(reply.status).toBe(200)
    else {
      const message = sentences[Answer] ?? Answer
      const error = { code: 'invalid_request', message, request_id: reply.headers['x-request-id'] }
      expect([reply.status, reply.body]).toEqual([Answer === 'CURSOR' ? 400 : 422, { error }])
    }
    expect(await stored()).toEqual(before)
  })

  it.each(['prefix', 'after'])('accepts 64 characters as %s, and refuses 65', async (name) => {
    const readStatus = async (value: string) =>
      (await world.call('GET', `/collections/c/entries?${name}=${value}`)).status
    expect([await readStatus('a'.repeat(64)), await readStatus('a'.repeat(65))]).toEqual([200, 422])
  })

  it('is refused over tRPC for what REST would refuse, in the same words', async () => {
    const authorization = `Bearer ${await world.token()}`
    for (const [procedure, input, message] of [
      ['storage.collections', { limit: 201 }, 'limit is 1 to 200.'],
      ['storage.collections', { after: '..' }, NAME],
      ['storage.entries', { collection: 'c', values: 'false' }, 'values is true or false.'],
      ['storage.entries', { collection: 'c', prefix: '%' }, PREFIX],
      ['storage.entries', { collection: 'c', prefix: null }, PREFIX],
      ['storage.entries', {}, NAME],
    ] as const) {
      const target = `/trpc/${procedure}?input=${encodeURIComponent(JSON.stringify(input))}`
      const { status, body } = await world.internal('GET', target, { headers: { authorization } })
      expect([status, body.error.message]).toEqual([422, message])
    }
  })
})

describe('the section', () => {
  it('answers in its envelope at its host, and sends the others to theirs', async () => {
    const at = (path: string) => world.call('GET', path, { api: 'sync', token: null })
    expect((await at('/')).body).toEqual({ detail: 'This API answers at apps.test.' })
    expect((await at('/storage/c')).body).toEqual({ detail: 'This API answers at apps.test.' })
    const unknown = await at('/nothing')
    const error = { code: 'not_found', message: 'There is nothing at this address.' }
    expect(unknown).toMatchObject({ status: 404, body: { error } })
    expect(unknown.headers).toMatchObject({
      'x-error-code': 'addressUnknown',
      link: '</v1/docs/errors#addressUnknown>; rel="help"',
    })
  })

  it('counts for the same request limit as apps', async () => {
    const left = async (path: string) =>
      Number(/r=(\d+)/.exec(String((await world.call('GET', path)).headers.ratelimit))![1])
    const before = await left('/storage/c')
    expect([await left('/collections'), await left('/storage/c')]).toEqual([before - 1, before - 2])
  })

  it('has its own operations in the metrics', async () => {
    await world.call('GET', '/collections/c/entries')
    const { text } = await world.internal('GET', '/metrics')
    expect(text).toMatch(/operation="storage\.entries"[^}]*status="200"/)
  })
})

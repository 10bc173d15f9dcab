import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mintMember } from '../support/app-server.ts'
import { expectRefusal } from '../support/refusal.ts'
import { useWorld } from '../support/started.ts'

const QUOTA = 1000
const world = useWorld({ storageQuotaBytes: QUOTA })

/** Everything stored for the app, with its log of changes. */
const stored = async () => {
  const where = { appId: world.ids.app }
  const changes = await world.db.storageChange.findMany({ where, orderBy: [{ owner: 'asc' }, { number: 'asc' }] })
  return [
    changes,
    await world.db.storageEntry.findMany({ where, orderBy: [{ owner: 'asc' }, { collection: 'asc' }, { key: 'asc' }] }),
    await world.db.storageCollection.findMany({ where }),
    await world.db.storageUsage.findMany({ where }),
  ]
}

const operation = (more: object = {}) => ({ op: 'put', collection: 'c', key: 'k', value: 2, ...more })
const send = (body: unknown, more: object = {}) => world.call('POST', '/batch', { body, ...more })
/** The text of a body with one operation of these members, behind one that would be stored. */
const withMembers = (members: string) => `{"operations":[${JSON.stringify(operation({ key: 'first' }))},{${members}}]}`
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const value = (bytes: number) => 'x'.repeat(bytes - 2)

beforeAll(async () => {
  await send({ operations: [operation({ value: 1 }), operation({ key: 'large', value: value(500) })] })
  const claims = { sub: await mintMember(world) }
  await send({ operations: [operation({ scope: 'user', key: 'theirs', value: 1 })] }, { claims })
})

let before: Awaited<ReturnType<typeof stored>>
beforeEach(async () => {
  before = await stored()
})

const LIST = 'operations is a list of 1 to 25 operations.'
const ALONE = 'The body has exactly one field, operations.'
const FIELDS =
  'Operation 1: An operation has op, collection and key, and may have scope, value, pointer, ifMatch and ifNoneMatch, each once.'
const NOT_JSON = 'The body is not valid JSON.'
const OP = 'Operation 1: op is put, merge, add, delete or get.'
const MISSING = 'Operation 1: value is missing.'
const UNEXPECTED = 'Operation 1: Only put, merge and add have a value.'
const NAME = "Operation 1: Names use 1 to 64 letters, digits, '_' or '-'."
const SCOPE = 'Operation 1: scope is org or user.'
const DEEP = 'Operation 1: value is nested too deeply.'
const at = '"collection":"c","key":"k"'
const put = `"op":"put",${at}`

describe('a body', () => {
  it.each([
    ['without operations', '{}', 400, LIST],
    ['that is a list', '[]', 400, LIST],
    ['that is null', 'null', 400, LIST],
    ['that is empty', '', 400, NOT_JSON],
    ['that is cut off', '{"operations":[', 400, NOT_JSON],
    ['with no operation', '{"operations":[]}', 400, LIST],
    [
      'with 26 operations',
      { operations: Array.from({ length: 26 }, (_, n) => operation({ key: `k${n}` })) },
      400,
      LIST,
    ],
    ['with an object of operations', { operations: { 0: operation() } }, 400, LIST],
    ['with a text of operations', { operations: JSON.stringify([operation()]) }, 400, LIST],
    ['with operations that are null', { operations: null }, 400, LIST],
    ['with another field', { operations: [operation()], value: 1 }, 400, ALONE],
    ['with operations twice', `{"operations":[],"operations":[${JSON.stringify(operation())}]}`, 400, ALONE],
    ['with operations twice, escaped', `{"operations":[{}],"\\u006fperations":[{}]}`, 400, ALONE],
    ['with operations in __proto__', `{"__proto__":{"operations":[${JSON.stringify(operation())}]}}`, 400, LIST],
    ['with 5,000 operations', `{"operations":[${Array(5000).fill('{}')}]}`, 400, LIST],
    ['with 65 KiB of empty operations', `{"operations":[${Array(22_000).fill('{}')}]}`, 413, TOO_LARGE()],
    [
      'with 101 operations, the last with a value of 61 KB',
      { operations: [...Array(100).fill(operation()), operation({ value: value(61_000) })] },
      400,
      LIST,
    ],
    ['with 5,000 values', `{"operations":[${Array(5000).fill('{"value":1}')}]}`, 400, LIST],
    ['that is not UTF-8', Buffer.from(`{"operations":[{${put},"value":"\xff"}]}`, 'latin1'), 400, NOT_JSON],
  ] as const)('%s is refused', async (_, body, status, message) => {
    expectRefusal(await send(body), status, 'invalid_request', message)
    expect(await stored()).toEqual(before)
  })

  it('of another type, or compressed, is refused', async () => {
    const body = { operations: [operation()] }
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'gzip' }]) {
      expectRefusal(await send(body, { headers }), 415, 'invalid_request', 'Send the body as application/json.')
    }
    expect(await stored()).toEqual(before)
  })

  it('larger than the quota and 64 KiB is refused with the usage', async () => {
    const reply = await send({ operations: [operation({ value: value(10 * 1024 * 1024) })] })
    expectRefusal(reply, 413, 'invalid_request', 'App storage quota exceeded.')
    expect(reply.headers).toMatchObject({ 'x-storage-used': '502', 'x-storage-limit': `${QUOTA}` })
    expect(await stored()).toEqual(before)
  })
})

function TOO_LARGE() {
  return 'The operations have more than 64 KiB beside their values.'
}

describe('an operation', () => {
  it.each([
    ['unknown', `"op":"patch",${at},"value":1`, 400, OP],
    ['in capitals', `"op":"PUT",${at},"value":1`, 400, OP],
    ['that a prototype has', `"op":"constructor",${at}`, 400, OP],
    ['missing', `${at},"value":1`, 400, OP],
    ['that is a number', `"op":1,${at},"value":1`, 400, OP],
    ['put without a value', put, 400, MISSING],
    ['get with a value', `"op":"get",${at},"value":1`, 400, UNEXPECTED],
    ['get with null as value', `"op":"get",${at},"value":null`, 400, UNEXPECTED],
    ['delete with a value', `"op":"delete",${at},"value":{}`, 400, UNEXPECTED],
    ['with value twice', `${put},"value":1,"value":2`, 400, FIELDS],
    ['with value twice, escaped', `${put},"value":1,"\\u0076alue":2`, 400, FIELDS],
    ['with op twice', `"op":"get",${put},"value":1`, 400, FIELDS],
    [
      'with ifNoneMatch twice, escaped',
      `${put},"value":1,"ifNoneMatch":"*","${escaped('ifNoneMatch')}":""`,
      400,
      FIELDS,
    ],
    ['with another field', `${put},"value":1,"ifmatch":"*"`, 400, FIELDS],
    ['with __proto__', `${put},"value":1,"__proto__":{"scope":"user"}`, 400, FIELDS],
    ['with constructor', `${put},"value":1,"constructor":1`, 400, FIELDS],
    ['with an ETag that is a number', `${put},"value":1,"ifMatch":1`, 400, FIELDS],
    ['with an ETag that is null', `${put},"value":1,"ifMatch":null`, 400, FIELDS],
    ['with a list of ETags', `${put},"value":1,"ifNoneMatch":["*"]`, 400, FIELDS],
    ['without a collection', '"op":"put","key":"k","value":1', 422, NAME],
    ['without a key', '"op":"get","collection":"c"', 422, NAME],
    ['with a key that is a number', '"op":"get","collection":"c","key":1', 422, NAME],
    ['with a key that is a deep list', `"op":"get","collection":"c","key":${nested(20_000)}`, 422, NAME],
    ['with a key of 65 characters', `"op":"get","collection":"c","key":"${'k'.repeat(65)}"`, 422, NAME],
    ['with a key with NUL', '"op":"get","collection":"c","key":"a\\u0000"', 422, NAME],
    ['with a collection ..', '"op":"get","collection":"..","key":"k"', 422, NAME],
    ['with another scope', `${put},"value":1,"scope":"club"`, 422, SCOPE],
    ['with scope null', `${put},"value":1,"scope":null`, 422, SCOPE],
    ['with 101 fields', `${put},"value":1${Array.from({ length: 98 }, (_, n) => `,"f${n}":1`).join('')}`, 400, FIELDS],
    ['with a value of 257 levels', `${put},"value":${nested(257)}`, 400, DEEP],
  ] as const)('%s refuses the batch', async (_, members, status, message) => {
    expectRefusal(await send(withMembers(members)), status, 'invalid_request', message)
    expect(await stored()).toEqual(before)
  })

  it.each(['null', '1', '"put"', '[]', '[{}]'])('that is %s refuses the batch', async (item) => {
    const body = `{"operations":[${JSON.stringify(operation())},${item}]}`
    expectRefusal(await send(body), 400, 'invalid_request', FIELDS)
    expect(await stored()).toEqual(before)
  })
})

/** Each character as an escape of six. */
function escaped(name: string) {
  return [...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}

describe('over tRPC a batch', () => {
  it.each([
    ['{"operations":[]}', 400, LIST],
    ['{"operations":{}}', 400, LIST],
    ['{}', 400, LIST],
    [withMembers(put), 400, MISSING],
    [withMembers(`"op":"get",${at},"value":1`), 400, UNEXPECTED],
    [withMembers(`${put},"value":1,"more":1`), 400, FIELDS],
    [withMembers(`"op":"get",${at},"ifMatch":"\\"x\\""`), 412, 'Operation 1: This entry has changed.'],
    [withMembers(`${put},"value":"${value(600)}"`), 413, 'App storage quota exceeded.'],
    [`{"operations":[${Array(5_000).fill('{"value":1}')}]}`, 400, LIST],
  ] as const)('is refused as over REST: %.60s', async (body, status, message) => {
    const authorization = `Bearer ${await world.token()}`
    for (const [path, sent] of [
      ['storage.batch', body],
      ['storage.batch?batch=1', `{"0":${body}}`],
    ] as const) {
      const reply = await world.internal('POST', `/trpc/${path}`, { headers: { authorization }, body: sent })
      expect([reply.status, [reply.body].flat()[0].error.message]).toEqual([status, message])
    }
    expect(await stored()).toEqual(before)
  })
})

it('a value of 257 levels is refused over tRPC too', async () => {
  const headers = { authorization: `Bearer ${await world.token()}` }
  const body = withMembers(`${put},"value":${nested(257)}`)
  const alone = await world.internal('POST', '/trpc/storage.batch', { headers, body })
  expect([alone.status, alone.body.error.message]).toEqual([400, DEEP])
  const among = await world.internal('POST', '/trpc/storage.batch?batch=1', { headers, body: `{"0":${body}}` })
  expect([among.status, among.body[0].error.message]).toEqual([400, 'value is nested too deeply.'])
  expect(await stored()).toEqual(before)
})

describe('the quota', () => {
  it('refuses a batch whose total at the end is over it', async () => {
    const operations = [operation({ key: 'a', value: value(250) }), operation({ key: 'b', value: value(250) })]
    const reply = await send({ operations })
    expectRefusal(reply, 413, 'invalid_request', 'App storage quota exceeded.')
    expect(reply.headers).toMatchObject({ 'x-storage-used': '502', 'x-storage-limit': '1000' })
    expect(await stored()).toEqual(before)
  })

  it('may be exceeded before the end, and be exactly full at the end', async () => {
    const large = { op: 'delete', collection: 'c', key: 'large' }
    const operations = [
      operation({ key: 'a', value: value(998) }),
      large,
      operation({ op: 'get', key: 'a', value: undefined }),
    ]
    const reply = await send({ operations })
    expect(reply).toMatchObject({ status: 200, headers: { 'x-storage-used': '1000' } })
    expect(reply.body.results[2].value).toBe(value(998))
    await send({ operations: [{ ...large, key: 'a' }, operation({ key: 'large', value: value(500) })] })
  })

  it('lowered below the total, allows batches that do not grow it', async () => {
    const { core } = world
    core.storageQuotaBytes = 100
    try {
      const grown = await send({ operations: [operation({ value: 22 })] })
      expectRefusal(grown, 413, 'invalid_request', 'App storage quota exceeded.')
      expect(await stored()).toEqual(before)
      const moved = [operation({ key: 'moved', value: value(500) }), { op: 'delete', collection: 'c', key: 'large' }]
      expect((await send({ operations: moved })).status).toBe(200)
    } finally {
      core.storageQuotaBytes = QUOTA
    }
    const back = [operation({ key: 'large', value: value(500) }), { op: 'delete', collection: 'c', key: 'moved' }]
    expect((await send({ operations: back })).status).toBe(200)
  })

  it('bounds what a batch reads', async () => {
    const get = { op: 'get', collection: 'c', key: 'large' }
    const two = await send({ operations: [get, get] })
    expect(two.body.results).toMatchObject([{ value: value(500) }, { value: value(500) }])
    const three = await send({ operations: [operation(), get, get, get] })
    const message = 'The entries that the batch reads are larger than the storage quota.'
    expectRefusal(three, 413, 'invalid_request', message)
    expect(await stored()).toEqual(before)
  })
})

describe('a token', () => {
  it('needs the scope to write, even for a batch that only reads', async () => {
    const reply = await send(
      { operations: [{ op: 'get', collection: 'c', key: 'k' }] },
      { claims: { scope: 'svc.apps.storage:read' } },
    )
    const message = 'This token does not carry the svc.apps.storage:write scope.'
    expectRefusal(reply, 403, 'missing_scope', message)
  })

  it('is checked before the body', async () => {
    expect((await send('{', { claims: { scope: '' } })).status).toBe(403)
    expect((await send('{', { token: null })).status).toBe(401)
  })
})

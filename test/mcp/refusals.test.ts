import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import { mintAppServer } from '../support/app-server.ts'
import type { Reply } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { localUrls, post, toolCall } from './assistant.ts'

const world = useWorld({ localUrls, storageQuotaBytes: 3 * 1024 * 1024 })
const entry = { collection: 'c', key: 'k' }
beforeAll(() => world.call('PUT', '/storage/c/k', { body: { value: 1 } }))

const call = (name: string, given: object = {}, token?: string) =>
  post(world, toolCall(name, given), token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
const readText = ({ body }: Reply): string => body.result.content[0].text
const expectUnchanged = async () => expect((await world.call('GET', '/storage/c/k')).body.value).toBe(1)

describe('a request', () => {
  it('returns 401 with the address of the document without a valid token', async () => {
    const document = 'http://sync.test/.well-known/oauth-protected-resource/v1/mcp'
    const missing = await world.send('POST', '/v1/mcp', { host: 'sync.test', body: toolCall('root') })
    expect(missing).toMatchObject({ status: 401, body: { error: { code: 'invalid_token' } } })
    expect(missing.headers['www-authenticate']).toBe(`Bearer realm="member-apps", resource_metadata="${document}"`)
    const expired = await call('root', {}, await world.token({ exp: 1 }))
    expect(expired.headers['www-authenticate']).toContain(`resource_metadata="${document}"`)
    const found = await world.send('GET', new URL(document).pathname, { host: 'sync.test' })
    expect(found.body).toMatchObject({ resource: 'http://sync.test/v1/mcp' })
    expect(found.body.scopes_supported).toEqual(expect.arrayContaining(['svc.me.profile:read', 'lms.me.quizzes:read']))
    const local = { host: 'localhost:3000' }
    const ofTrial = await world.send('GET', '/.well-known/oauth-protected-resource/sync/v1/mcp', local)
    expect(ofTrial.body.resource).toBe('http://localhost:3000/sync/v1/mcp')
    const challenged = await world.send('POST', '/sync/v1/mcp', { ...local, body: {} })
    expect(challenged.headers['www-authenticate']).toContain(
      'localhost:3000/.well-known/oauth-protected-resource/sync/v1/mcp',
    )
  })

  it.each(['GET', 'DELETE', 'PUT', 'HEAD'])('returns 405 for %s: there are no streams and sessions', async (method) => {
    const { status, headers } = await world.send(method, '/v1/mcp', { host: 'sync.test' })
    expect([status, headers.allow]).toEqual([405, 'POST'])
  })

  it('returns 404 at the host of another API', async () => {
    expect((await post(world, toolCall('root'), { host: 'apps.test' })).status).toBe(404)
  })

  it('may come from a page of any origin, with the headers of the protocol', async () => {
    const names = 'authorization, content-type, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id'
    const headers = {
      origin: 'http://a.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': names,
    }
    const preflight = await world.send('OPTIONS', '/v1/mcp', { host: 'sync.test', headers })
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*'])
    const allowed = preflight.headers['access-control-allow-headers']!.toLowerCase()
    for (const name of names.split(', ')) expect(allowed).toContain(name)
  })
})

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const put = (value: string, more = '') =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"storagePut","arguments":{"collection":"c","key":"k","value":${value}}${more}}}`
const STATELESS = '2026-07-28'

describe('a body', () => {
  it.each<[string, number, unknown, Record<string, string>?]>([
    ['no JSON', 400, '{'],
    ['no JSON, and large', 400, `{"a":"${'x'.repeat(20_000)}"`],
    ['no UTF-8', 400, Buffer.from([0x22, 0xff, 0x22])],
    ['empty', 400, ''],
    ['of another content type', 415, '{}', { 'content-type': 'text/plain' }],
    ['compressed', 415, '{}', { 'content-encoding': 'gzip' }],
    ['larger than the quota', 413, put(`"${'x'.repeat(3 * 1024 * 1024 + 70_000)}"`)],
    ['with more than 1 MiB beside the value', 400, put('2', `,"more":"${'x'.repeat(1024 * 1024)}"`)],
    ['nested too deeply', 400, `{"params":${nested(20_000)}}`],
  ])('returns an error of the catalogue where it is %s', async (_, status, body, headers = {}) => {
    const reply = await post(world, body, { headers: { 'content-type': 'application/json', ...headers } })
    expect(reply).toMatchObject({
      status,
      body: { error: { code: 'invalid_request', request_id: expect.any(String) } },
    })
    await expectUnchanged()
  })

  it.each<[string, number, number, unknown, Record<string, string>?]>([
    ['no message', 400, -32600, { a: 1 }],
    ['null', 400, -32600, null],
    ['a list of messages', 400, -32600, [toolCall('root'), toolCall('root')]],
    ['an unknown method', 200, -32601, { jsonrpc: '2.0', id: 1, method: '__proto__' }],
    ['an unknown tool', 200, -32602, toolCall('no')],
    ['a tool of Object', 200, -32602, toolCall('__proto__')],
    ['an endpoint of the app itself', 200, -32602, toolCall('storageRulesPut')],
    ['no name', 200, -32602, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }],
    ['arguments that are a list', 200, -32602, { ...toolCall('root'), params: { name: 'root', arguments: [] } }],
    ['an unknown version', 400, -32022, toolCall('root'), { 'mcp-protocol-version': '1999-01-01' }],
    ['a version without its envelope', 400, -32602, toolCall('root'), { 'mcp-protocol-version': STATELESS }],
  ])('returns an error of the protocol for %s', async (_, status, code, body, headers = {}) => {
    const reply = await post(world, body, { headers: { 'content-type': 'application/json', ...headers } })
    expect(reply).toMatchObject({ status, body: { jsonrpc: '2.0', error: { code } } })
    expect(reply.headers['content-type']).toContain('application/json')
  })

  it('of 20 KB returns 503 without the memory to parse it, and gives back what was reserved', async () => {
    const { params } = toolCall('storageGet', entry)
    const body = { ...toolCall('root'), params: { ...params, _meta: { padding: 'x'.repeat(20_000) } } }
    // 80 KB for its bytes, and 640 to parse it.
    const others = world.memory.freeBytes - 500_000
    expect(world.memory.take('another team', others)).toBe(true)
    expect((await post(world, body)).status).toBe(503)
    world.memory.give('another team', others)
    expect((await post(world, body)).body.result.content[0].text).toContain('"value":1')
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  const meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientInfo': { name: 'suite', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  it.each<[string, number, number | undefined, object, string?]>([
    ['is as the headers say', 200, undefined, {}],
    ['has another method', 400, -32020, { 'mcp-method': 'tools/list' }],
    ['has another tool', 400, -32020, { 'mcp-name': 'meProfile' }],
    ['has no header with the tool', 400, -32020, { 'mcp-name': undefined }],
    ['has no header with the method', 400, -32020, { 'mcp-method': undefined }],
    ['has no header with the version', 400, -32020, { 'mcp-protocol-version': undefined }],
    ['has an unknown version', 400, -32022, { 'mcp-protocol-version': '2030-01-01' }, '2030-01-01'],
  ])('of the stateless version is compared with its headers: it %s', async (_, status, code, more, version) => {
    const _meta = { ...meta, ...(version && { 'io.modelcontextprotocol/protocolVersion': version }) }
    const body = { ...toolCall('root'), params: { name: 'root', arguments: {}, _meta } }
    const sent = { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/call', 'mcp-name': 'root', ...more }
    const headers = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >
    const reply = await post(world, body, { headers })
    expect([reply.status, reply.body.error?.code]).toEqual([status, code])
  })

  it.each([
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', id: 7, result: {} },
  ])('that needs no answer gets 202: %j', async (body) => {
    expect(await post(world, body)).toMatchObject({ status: 202, text: '' })
  })
})

describe('a call of a tool', () => {
  it.each<[string, object, string]>([
    ['storageGet', { collection: 'c', key: 'none' }, 'not_found: This key does not exist.'],
    ['storageGet', { collection: 'c', key: 7 }, 'invalid_request: '],
    ['storageGet', { ...entry, scope: 'all' }, 'invalid_request: scope is org or user.'],
    ['storageList', { collection: 'c', limit: 201 }, 'invalid_request: limit is 1 to 200.'],
    ['storagePut', { ...entry }, 'invalid_request: '],
    ['storagePut', JSON.parse(`{"collection":"c","key":"k","__proto__":{"value":2}}`), 'invalid_request: '],
    ['storagePut', { ...entry, value: JSON.parse(nested(257)) }, 'invalid_request: value is nested too deeply.'],
    ['storagePut', { ...entry, value: 2, ifMatch: '"other"' }, 'precondition_failed: This entry has changed.'],
    ['storageBatch', { operations: [{ op: 'put', ...entry }] }, 'invalid_request: Operation 0: '],
    ['quizzesGet', { quizId: 'q' }, 'not_found: This member does not exist in this academy.'],
  ])('%s with %j returns its error with what to do', async (name, given, beginning) => {
    const reply = await call(name, given)
    expect([reply.status, reply.body.result.isError]).toEqual([200, true])
    const { error } = reply.body.result.structuredContent
    expect(readText(reply).startsWith(beginning)).toBe(true)
    expect(readText(reply)).toMatch(new RegExp(`^${error.code}: .{5,}\\. .{9,}\\.$`))
    expect(error.request_id).toBe(reply.headers['x-request-id'])
    await expectUnchanged()
  })

  it('that the scopes do not allow returns the 403, and is not listed', async () => {
    const token = await world.token({ scope: 'svc.apps.storage:read' })
    const headers = { authorization: `Bearer ${token}` }
    const { tools } = (await post(world, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { headers })).body.result
    expect(tools.map((tool: { name: string }) => tool.name)).not.toContain('storagePut')
    expect(readText(await call('storagePut', { ...entry, value: 2 }, token))).toMatch(/^missing_scope: /)
    await expectUnchanged()
  })

  it('reads nothing of another member', async () => {
    await world.call('PUT', '/storage/own/k?scope=user', { body: { value: 'secret' } })
    const given = { collection: 'own', key: 'k', scope: 'user' }
    expect(readText(await call('storageGet', given))).toContain('secret')
    const personId = id('member')
    await world.db.person.create({ data: { id: personId, firstName: 'N', lastName: 'N', email: '' } })
    await world.db.membership.create({ data: { organisationId: world.ids.club, personId } })
    const other = await world.token({ sub: personId })
    expect(readText(await call('storageGet', given, other))).toMatch(/^not_found: /)
  })

  it('returns 401 for a token without a member, which sees no tools', async () => {
    const server = await mintAppServer(world)
    const token = await world.token(server.claims)
    expect(decodeJwt(token).sub).toBeUndefined()
    const headers = { authorization: `Bearer ${token}` }
    const list = await post(world, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { headers })
    expect(list.body.result.tools).toEqual([])
    expect(await call('storageCollections', {}, token)).toMatchObject({ status: 401 })
    expect((await world.call('GET', '/collections', { token })).status).toBe(200)
  })

  it('refuses a result of 150 Ki letters of two bytes', async () => {
    await world.call('PUT', '/storage/letters/k', { body: { value: 'ä'.repeat(150 * 1024) } })
    expect(readText(await call('storageGet', { collection: 'letters', key: 'k' }))).toContain('larger than 256 KiB')
  })

  it.each([100, 1_100])(
    'refuses a result of more than 256 KiB, and says how to ask for less: %s KiB four times',
    async (kib) => {
      const value = 'x'.repeat(kib * 512)
      for (const key of 'abcdef') await world.call('PUT', `/storage/large/${key}`, { body: { value } })
      const given = { collection: 'large', values: true }
      const message = /^invalid_request: The result of this tool is larger than 256 KiB\. Ask for less: a smaller limit/
      // No memory is taken for it.
      const others = world.memory.freeBytes - 1024 * 1024
      expect(world.memory.take('another team', others)).toBe(true)
      expect(readText(await call('storageEntries', given))).toMatch(message)
      world.memory.give('another team', others)
      if (kib === 100) expect(readText(await call('storageEntries', { ...given, limit: 2 }))).toContain(value)
    },
  )

  it('repeats 64 characters of an unknown name at most', async () => {
    const { error } = (await call('x'.repeat(10_000))).body
    expect(error.message).toBe(`Unknown tool: ${'x'.repeat(64)}`)
  })

  it('gets an answer that nothing on its way stores', async () => {
    expect((await call('meProfile')).headers['cache-control']).toBe('private, no-store')
  })

  it('does not wait for changes', async () => {
    const { cursor } = JSON.parse(readText(await call('storageChanges', { collection: 'quiet' })))
    const page = JSON.parse(readText(await call('storageChanges', { collection: 'quiet', since: cursor, wait: 50 })))
    expect(page.items).toEqual([])
  })
})

it('returns 401 for every tool of a suspended app, and lists none', async () => {
  await world.db.app.update({ where: { id: world.ids.app }, data: { state: 'suspended' } })
  world.advance(5)
  expect((await post(world, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).body.result.tools).toEqual([])
  expect(await call('storagePut', { ...entry, value: 2 })).toMatchObject({ status: 401 })
})

import type { Client } from '@modelcontextprotocol/client'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import { tools } from '../../rest-facade/tools.ts'
import { sampleCalls } from '../support/sample-calls.ts'
import { useWorld } from '../support/started.ts'
import { createCard, createQuiz, putAddress } from '../support/tenant.ts'
import { connect, localUrls, post, toolCall } from './assistant.ts'

const world = useWorld({ localUrls, auth: {}, passes: () => async () => Buffer.from('a pass') })
/** By section of the token. */
const clients = {} as Record<'apps' | 'lms' | 'notify', Client>
beforeAll(async () => {
  await createQuiz(world.db, world.ids)
  await createCard(world)
  const { club, academy, provider } = world.ids
  for (const [section, organisation] of Object.entries({ apps: club, lms: academy, notify: provider })) {
    clients[section as keyof typeof clients] = await connect(world, await world.token({ organisation }))
  }
})

/** Without what differs from call to call. */
const steady = (text: string) =>
  JSON.parse(text || 'null', (key, value) =>
    ['etag', 'cursor', 'updatedAt', 'url', 'code', 'validUntil'].includes(key) ||
    (key === 'id' && /^[0-9a-f-]{36}$/.test(value))
      ? typeof value
      : value,
  )
type Content = { type: string; text: string; resource: { mimeType: string; blob: string } }[]
const readContent = ({ content }: { content: unknown }) => content as Content

const callable = routes.filter(
  ({ section, meta: { policy } }) => section !== 'notify' && policy.requires.appItself !== 'required',
)

describe('the tools', () => {
  it('are the endpoints of apps, lms and sync that a member can call, each once', () => {
    expect([...tools().values()].map(({ route }) => route.name)).toEqual(callable.map(({ name }) => name))
    expect(tools().size).toBe(26)
  })

  it.each([...tools().values()])(
    'have a name that every client takes, hints and a valid schema: $tool.name',
    ({ tool, route }) => {
      expect(tool.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      const { input = {} } = sampleCalls({ resultId: 'r' })[route.name]!
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(tool.inputSchema)
      expect(validate(input), JSON.stringify(validate.errors)).toBe(true)
      for (const field of Object.keys(input)) {
        if (field !== 'wait') expect(tool.inputSchema.properties).toHaveProperty(field)
      }
      expect(tool.inputSchema.properties).not.toHaveProperty('wait')
    },
  )

  it('say of themselves that they change or remove what is there', () => {
    const some = [...tools().values()].filter(({ tool }) => tool.annotations.destructiveHint)
    expect(some.map(({ tool }) => tool.name)).toEqual([
      ...['storagePut', 'storageDelete', 'storageBatch'],
      ...['addressesUpdate', 'addressesRemove'],
    ])
  })

  it('are listed by what the scopes and the organisation of the token allow', async () => {
    const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
    const all = await Promise.all(Object.values(clients).map(names))
    expect([...new Set(all.flat())].sort()).toEqual([...tools().keys()].sort())
    const few = await connect(world, await world.token({ scope: 'svc.me.groups:read' }))
    expect(await names(few)).toEqual(['root', 'meGroups'])
    const { tools: listed } = await few.listTools()
    expect(listed[1]).toMatchObject({
      title: "The member's groups",
      annotations: { readOnlyHint: true, destructiveHint: false },
    })
  })
})

it('a tool is not for tokens without a member, and of another issuer not for those of other sections', () => {
  const principal = { member: 'm', organisation: 'o', client: 'c', scopes: new Set(['svc.me.groups:read']) }
  const app = { team: 't', level: 'hobby', sandbox: false, app: 'a', suspended: false, ruled: false } as const
  const access = { ...app, memberOf: 'club', scopes: ['svc.me.groups:read'] } as const
  const { isFor } = tools().get('meGroups')!
  const sections = (...names: string[]) => ({ sections: new Set(names) })
  const kinds = [{}, sections('lms', 'apps'), sections('lms'), { member: null }]
  expect(kinds.map((kind) => isFor({ ...principal, ...kind }, access))).toEqual([true, true, false, false])
})

describe.each(callable.map(({ name }) => name))('%s', (name) => {
  it('returns as a tool what it returns over REST', async () => {
    const { ids } = world
    const quiz = { quizId: `quiz-${ids.academy}`, resultId: `result-${ids.academy}`, answers: { q1: 'Yes' } }
    const existing = { ...quiz, addressId: `address-${ids.app}` }
    const { section, tokens, path, body, input } = sampleCalls({ id: ids.app, ...existing })[name]!
    const { method, meta } = routes.find((route) => route.name === name)!
    const put = sampleCalls()['storage.put']!
    const prepare = async () => {
      if (name.startsWith('storage.')) await world.call('PUT', put.path, { body: put.body })
      if (name.startsWith('addresses.')) await putAddress(world.core, ids.app)
    }
    await prepare()
    const organisation = { apps: ids.club, lms: ids.academy, notify: ids.provider }[tokens]
    const reply = await world.call(method, path, { api: section, body, claims: { organisation } })
    await prepare()
    const tool = [...tools().values()].find(({ route }) => route.name === name)!.tool.name
    const result = await clients[tokens].callTool({ name: tool, arguments: { ...input } })
    expect(result.isError).toBeUndefined()
    const [first, ...more] = readContent(result)
    if (meta.file) {
      const { mimeType, blob } = first!.resource
      expect([mimeType, blob]).toEqual([meta.file.type, reply.bytes!.toString('base64')])
      return
    }
    expect(steady(first!.text)).toEqual(steady(reply.text))
    expect(more.map(({ text }) => text.split(':')[0])).toEqual(Object.values(meta.responseHeaders ?? {}))
  })
})

describe('a value', () => {
  it.each(['storagePut', 'storageBatch'])('is stored byte for byte by %s', async (name) => {
    const value = '{ "b": 1.00, "a": 1e400, "a": 12345678901234567890, "text": "\\u00e9\\ud800" }'
    const one = `"collection":"exact","key":"k","value": ${value} `
    const given = name === 'storagePut' ? `{${one}}` : `{"operations":[{"op":"put",${one}}]}`
    const body = `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":${given},"name":"${name}"}}`
    const put = (await post(world, body)).body
    expect([put.id, put.result.isError]).toEqual(['x', undefined])
    const stored = await world.call('GET', '/storage/exact/k')
    expect(stored.text).toContain(`"value":${value}`)
    const { result } = (await post(world, toolCall('storageGet', { collection: 'exact', key: 'k' }))).body
    expect(result.content[0].text).toBe(stored.text)
    expect(result.content[1].text).toBe(`ETag: ${stored.headers.etag}`)
  })

  it('is written if its ETag is the one that was read, and else refused with what to do', async () => {
    const place = { collection: 'exact', key: 'etag' }
    const [, etag] = readContent(await clients.apps.callTool({ name: 'storagePut', arguments: { ...place, value: 1 } }))
    const ifMatch = etag!.text.slice('ETag: '.length)
    const put = () => clients.apps.callTool({ name: 'storagePut', arguments: { ...place, ifMatch, value: 2 } })
    expect((await put()).isError).toBeUndefined()
    const refused = await put()
    expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'precondition_failed' } } })
    expect(readContent(refused)[0]!.text).toMatch(/^precondition_failed: This entry has changed\. .+\.$/)
    expect((await world.call('GET', '/storage/exact/etag')).body.value).toBe(2)
  })
})

describe('a client of the versions before', () => {
  it('lists and calls tools after initialize', async () => {
    const client = await connect(world, await world.token(), 'legacy')
    expect(client.getServerVersion()).toMatchObject({ name: 'member-apps-api', title: 'the service' })
    expect((await client.listTools()).tools.length).toBeGreaterThan(10)
    const [profile] = readContent(await client.callTool({ name: 'meProfile' }))
    expect(profile!.text).toBe((await world.call('GET', '/me/profile')).text)
    await client.close()
  })
})

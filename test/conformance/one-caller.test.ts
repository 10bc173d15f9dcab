import { createTRPCClient, httpBatchLink, httpLink } from '@trpc/client'
import type { AnyProcedure } from '@trpc/server'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Route } from '../../rest-facade/routes.ts'
import { routes } from '../../rest-facade/routes.ts'
import { callAs } from '../../routers/core.ts'
import type { AppRouter } from '../../routers/index.ts'
import { procedures } from '../../routers/index.ts'
import { endpoint } from '../../routers/kernel/endpoint.ts'
import { invocable } from '../../routers/kernel/invoke.ts'
import { clubApp } from '../../routers/kernel/policies.ts'
import { mintAppServer } from '../support/app-server.ts'
import { sampleCalls } from '../support/sample-calls.ts'
import { useWorld } from '../support/started.ts'
import { createCard, createQuiz, putAddress } from '../support/tenant.ts'

const world = useWorld({ auth: {}, passes: () => async () => Buffer.from('a pass') })
let server: Awaited<ReturnType<typeof mintAppServer>>
beforeAll(async () => {
  server = await mintAppServer(world)
  await createQuiz(world.db, world.ids)
  await createCard(world)
})

type Client = ReturnType<typeof createTRPCClient<AppRouter>>

/** Calls `me.profile` of a client as `client.me.profile.query()`. */
function call(client: Client, name: string, input: object | undefined): Promise<unknown> {
  const operation = procedures[name]!._def.type === 'query' ? 'query' : 'mutate'
  const path = [...name.split('.'), operation]
  // biome-ignore lint/suspicious/noExplicitAny: the path is only known at run time
  return path.reduce((part: any, key) => part[key], client)(input)
}

/** Without what differs from call to call: ids of results, ETags, cursors, signatures, and times around a full second. */
const steady = (data: unknown) =>
  JSON.parse(JSON.stringify(data ?? null), (key, value) =>
    ['etag', 'cursor', 'updatedAt', 'url', 'code', 'validUntil'].includes(key) ||
    (key === 'id' && /^[0-9a-f-]{36}$/.test(value))
      ? typeof value
      : value,
  )

describe.each(routes.map(({ name }) => name))('%s', (name) => {
  it('returns the same over REST, over tRPC, in a batch and in process', async () => {
    const { ids } = world
    const { app, academy } = ids
    const addressId = `address-${app}`
    const existing = { addressId, quizId: `quiz-${academy}`, resultId: `result-${academy}`, answers: { q1: 'Yes' } }
    const samples = sampleCalls({ id: app, ...existing })
    const { section, tokens, isOfApp, path, body, input } = samples[name]!
    const route = routes.find((one) => one.name === name)!
    const organisation = { apps: ids.club, lms: ids.academy, notify: ids.provider }[tokens]
    const claims = { organisation, ...(isOfApp && server.claims) }
    const { path: entry, body: value } = samples['storage.put']!
    const prepare = async () => {
      if (name.startsWith('storage.')) await world.call('PUT', entry, { body: value })
      if (name.startsWith('addresses.')) await putAddress(world.core, app)
    }
    const options = {
      url: `http://127.0.0.1:${world.internalPort}/trpc`,
      headers: async () => ({ authorization: `Bearer ${await world.token(claims)}` }),
    }

    await prepare()
    const reply = await world.call(route.method, path, { api: section, body, claims: { ...claims } })
    expect(reply.status).toBe(route.status)
    const fromHeaders = Object.entries(route.meta.responseHeaders ?? {}).map(([field, header]) => [
      field,
      reply.headers[header.toLowerCase()],
    ])
    if (route.meta.file) reply.body = { [route.meta.file.field]: reply.bytes!.toString('base64') }
    const results: unknown[] = [reply.body && { ...reply.body, ...Object.fromEntries(fromHeaders) }]
    // REST has the ETag of single entries alone.
    const withoutETags = (data: unknown) =>
      name === 'storage.list'
        ? JSON.parse(JSON.stringify(data), (key, value) => (key === 'etag' ? undefined : value))
        : data

    for (const link of [httpLink(options), httpBatchLink(options)]) {
      await prepare()
      results.push(withoutETags(await call(createTRPCClient<AppRouter>({ links: [link] }), name, input)))
    }
    await prepare()
    const principal = world.principal({ organisation, ...(isOfApp && { member: null, client: server.client }) })
    const local = name
      .split('.')
      .reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], callAs(world.core, principal))
    results.push(withoutETags(await (local as (input: unknown) => Promise<unknown>)(input)))
    for (const result of results) expect(steady(result)).toEqual(steady(results[0]))
  })
})

describe('an endpoint of our own', () => {
  /** Puts another procedure in the place of storage.put's, for one test. */
  function replaceProcedure(procedure: AnyProcedure): Route {
    const route = routes.find(({ name }) => name === 'storage.put')!
    const { procedure: before } = route
    route.procedure = invocable(procedure)
    onTestFinished(() => {
      route.procedure = before
    })
    return route
  }
  const row = { summary: 'A test', description: 'A test', returns: 'A test', query: ['scope'], raw: 'value' } as const
  const begin = () => endpoint('PUT /storage/{collection}/{key}', 'svc.apps.storage:write', clubApp, row)
  const etag = '"1"'
  const input = z.object({
    collection: z.string(),
    key: z.string(),
    scope: z.string().default('org'),
    value: z.unknown(),
  })

  it('applies transforms and defaults of its input once', async () => {
    replaceProcedure(
      begin()
        .input(input.extend({ key: z.string().transform((key) => `${key}!`) }))
        .mutation(({ input: { key, scope } }) => ({ key, scope, etag })),
    )
    expect((await world.call('PUT', '/storage/a/b', { undocumented: true, body: { value: 1 } })).body).toEqual({
      key: 'b!',
      scope: 'org',
    })
  })

  it('runs every middleware, with the path and its changes to the input', async () => {
    const seen: unknown[] = []
    const route = replaceProcedure(
      begin()
        .input(input)
        .use(({ path, input, next }) => {
          seen.push(path)
          return next({ input: { ...input, key: 'changed' } } as never)
        })
        .mutation(({ input: { key } }) => ({ key, etag })),
    )
    expect((await world.call('PUT', '/storage/a/b', { undocumented: true, body: { value: 1 } })).body).toEqual({
      key: 'changed',
    })
    expect(seen).toEqual([route.name])
  })
})

import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { getTRPCErrorShape, initTRPC, TRPCError } from '@trpc/server'
import type { JWK } from 'jose'
import { decodeJwt, exportJWK, generateKeyPair } from 'jose'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { listProcedures, readConfig, readDefinition } from '../../routers/kernel/trpc-internals.ts'
import { onIdToken } from '../../server/oauth/engine/oidc-internals.ts'
import { Provider } from '../../server/oauth/engine/oidc-provider.ts'

// What prisma/pg/pg-internals.ts, routers/kernel/trpc-internals.ts and server/oauth/engine/oidc-internals.ts assume of private parts
// of libraries.

/** Notes what pg calls, and what it is given. */
class Recorder implements pg.Submittable {
  readonly calls: unknown[] = []
  readonly #text: string
  readonly #ended: () => void

  constructor(text: string, ended: () => void) {
    this.#text = text
    this.#ended = ended
  }

  submit(connection: pg.Connection) {
    this.calls.push('submit')
    connection.stream.cork()
    connection.close({ type: 'S', name: 'recorded' }, true)
    connection.parse({ name: 'recorded', text: this.#text, types: [] }, true)
    connection.bind({ statement: 'recorded', values: ['1'] }, true)
    connection.execute(null, true)
    connection.sync()
    connection.stream.uncork()
  }

  handleDataRow({ fields }: { fields: unknown }) {
    this.calls.push(['handleDataRow', fields])
  }

  handleCommandComplete() {
    this.calls.push('handleCommandComplete')
  }

  handleReadyForQuery() {
    this.calls.push('handleReadyForQuery')
    this.#ended()
  }

  handleError(error: Error) {
    this.calls.push(['handleError', error.message])
    this.#ended()
  }
}

describe('pg', () => {
  async function callsFor(text: string) {
    const client = new pg.Client({ connectionString: inject('databaseUrl') })
    await client.connect()
    onTestFinished(() => client.end())
    let recorder!: Recorder
    await new Promise<void>((resolve) => {
      recorder = client.query(new Recorder(text, resolve))
    })
    // A query after it is answered: the connection is in step.
    expect((await client.query('SELECT 2 AS two')).rows).toEqual([{ two: 2 }])
    return recorder.calls
  }

  it('gives a submitted query its connection, then the fields of each row as text, and the end', async () => {
    expect(await callsFor('SELECT $1::int4 AS one, NULL AS none FROM generate_series(1, 2)')).toEqual([
      'submit',
      ['handleDataRow', ['1', null]],
      ['handleDataRow', ['1', null]],
      'handleCommandComplete',
      'handleReadyForQuery',
    ])
  })

  it('gives a submitted query an error of the server, and then nothing', async () => {
    expect(await callsFor('SELECT 1 / ($1::int4 - 1)')).toEqual(['submit', ['handleError', 'division by zero']])
  })
})

describe('tRPC', () => {
  const t = initTRPC.meta<{ of: string }>().create()
  const [use, schema] = [t.middleware(({ next }) => next()), z.object({ a: z.string() })]
  const procedure = t.procedure
    .meta({ of: 'a' })
    .use(use)
    .input(schema)
    .output(z.string())
    .query(() => 'b')

  it('has type, meta, inputs and the steps of a procedure: middleware, input, output and resolver', () => {
    const { type, meta, inputs, middlewares } = readDefinition(procedure)
    expect({ type, meta, inputs }).toEqual({ type: 'query', meta: { of: 'a' }, inputs: [schema] })
    expect(middlewares).toEqual(Array(4).fill(expect.any(Function)))
  })

  it('has the procedures of a router by path, and the configuration that shapes errors', () => {
    const router = t.router({ inner: t.router({ procedure }) })
    expect(listProcedures(router)).toEqual({ 'inner.procedure': procedure })
    const error = new TRPCError({ code: 'NOT_FOUND' })
    const shape = { config: readConfig(router), error, type: 'query' as const, path: 'a', input: undefined, ctx: {} }
    expect(getTRPCErrorShape(shape)).toMatchObject({ message: 'NOT_FOUND', data: { httpStatus: 404 } })
  })
})

describe('oidc-provider', () => {
  it('has its AsyncLocalStorage in lib/helpers/als.js', async () => {
    // @ts-expect-error: without types
    const { default: storage } = await import('oidc-provider/lib/helpers/als.js')
    expect(storage).toBeInstanceOf(AsyncLocalStorage)
    const ctx = {}
    expect(storage.run(ctx, () => Provider.ctx)).toBe(ctx)
    storage.disable()
    expect(Provider.ctx).toBeUndefined()
  })

  it('signs an ID token with the hash of its at_hash, the iat that was set, and the given end, also one in the past', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const provider = providerWith(await exportJWK(privateKey))
    const { AccessToken, IdToken, Client } = provider
    const seen: unknown[] = []
    onIdToken(provider, (token, accessToken) => {
      seen.push(accessToken)
      token.set('iat', 1_000)
      token.set('at_hash', accessToken)
      return 1_600
    })
    const client = (await Client.find('app'))!
    const accessToken = new AccessToken({ accountId: 'anna', client } as never)
    const sent = await accessToken.save()
    const ctx = { oidc: { client, entities: { AccessToken: accessToken } } }
    const token = new IdToken({ sub: 'anna' }, { ctx: ctx as never })
    Object.assign(token, { scope: 'openid' })
    const { at_hash, iat, exp, sub, aud } = decodeJwt(await token.issue({ use: 'idtoken' }))
    const half = createHash('sha256').update(sent).digest().subarray(0, 16)
    expect(seen).toEqual([sent])
    expect({ at_hash, iat, exp, sub, aud }).toEqual({
      at_hash: half.toString('base64url'),
      iat: 1_000,
      exp: 1_600,
      sub: 'anna',
      aud: 'app',
    })
  })
})

function providerWith(key: JWK) {
  const provider = new Provider('http://127.0.0.1', {
    adapter: () => ({ upsert: async () => {} }) as never,
    features: { devInteractions: { enabled: false } },
    jwks: { keys: [{ ...key, alg: 'ES256', use: 'sig' }] },
    clients: [{ client_id: 'app', redirect_uris: ['https://app.example/'], token_endpoint_auth_method: 'none' }],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: ['secret'] },
  })
  provider.silent = true
  return provider
}

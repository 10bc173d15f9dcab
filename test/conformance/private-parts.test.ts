import { AsyncLocalStorage } from 'node:async_hooks'
import { getTRPCErrorShape, initTRPC, TRPCError } from '@trpc/server'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { configOf, definitionOf, proceduresOf } from '../../routers/kernel/trpc-internals.ts'
import { Provider } from '../../server/oauth/oidc-provider.ts'

// What prisma/pg/pg-internals.ts, routers/kernel/trpc-internals.ts and server/oauth/oidc-internals.ts assume of private parts
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
    const { type, meta, inputs, middlewares } = definitionOf(procedure)
    expect({ type, meta, inputs }).toEqual({ type: 'query', meta: { of: 'a' }, inputs: [schema] })
    expect(middlewares).toEqual(Array(4).fill(expect.any(Function)))
  })

  it('has the procedures of a router by path, and the configuration that shapes errors', () => {
    const router = t.router({ room: t.router({ procedure }) })
    expect(proceduresOf(router)).toEqual({ 'room.procedure': procedure })
    const error = new TRPCError({ code: 'NOT_FOUND' })
    const shape = { config: configOf(router), error, type: 'query' as const, path: 'a', input: undefined, ctx: {} }
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
})

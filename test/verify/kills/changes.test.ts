import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { developmentKey, mintToken } from '../../../server/tokens/development.ts'
import { command, dataDirectory, send } from '../../process/service.ts'
import { chance, seed } from '../../support/chance.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import type { EventStream } from '../../support/event-stream.ts'
import { openEvents } from '../../support/event-stream.ts'
import { times } from '../../support/rounds.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { openNode } from './killed-node.ts'

const WRITERS = 8
const WRITES = times(1_250, 100)
const ROUNDS = times(20, 2)
const scope = 'svc.apps.storage:read svc.apps.storage:write'

const events = { host: 'sync.localhost', accept: 'text/event-stream' }

interface Copied {
  value: string
  etag: string
}

function apply(copy: Map<string, Copied>, { key, value, etag, deleted }: Copied & { key: string; deleted?: true }) {
  if (deleted) copy.delete(key)
  else copy.set(key, { value, etag })
}

/** Undefined when the stream has ended. */
const next = async (stream: EventStream | undefined) => {
  const [event] = (await stream?.take(1).catch(() => undefined)) ?? []
  return event
}

const ends: (() => Promise<void>)[] = []
const atEnd = (end: () => Promise<void>) => void ends.unshift(end)
afterAll(async () => {
  for (const end of ends) await end()
})

it(`copies that follow the changes, by waiting and by streams, equal the store after kills of two nodes (seed ${seed})`, {
  timeout: 1_800_000,
}, async () => {
  const env = { DATABASE_URL: await emptyDatabase(atEnd), DATA_DIR: await dataDirectory(atEnd), SECRETS_KEY }
  expect(await command('seed', [], env).ended).toMatchObject({ code: 0 })
  await query(env.DATABASE_URL, `UPDATE "Client" SET environment = 'sandbox'`)
  const claims = { organisation: 'riverside', member: 'anna', client: 'trainer-app', scope, expiresInSeconds: 7_200 }
  const authorization = `Bearer ${await mintToken(await developmentKey(env.DATA_DIR), claims)}`
  const nodes = [await openNode(env, atEnd), await openNode(env, atEnd)]
  let turn = 0
  let kills = 0
  /** Sends to the nodes in turn, until one answers. */
  const call = async (host: string, method: string, path: string, body?: unknown) => {
    for (;;) {
      const { port } = nodes[turn++ % nodes.length]!
      const headers = { host: `${host}.localhost`, authorization }
      const answer = await send(port(), method, `/v1${path}`, { headers, body }).catch(() => undefined)
      if (answer && answer.status !== 503) return answer
      await pause(20)
    }
  }

  for (let round = 0; round < ROUNDS; round++) {
    const name = `copied-${round}`
    const draw = chance(`kills ${round}`)
    let writing = WRITERS
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      const chosen = chance(`${round} ${writer}`)
      for (let n = 0; n < WRITES; n++) {
        const path = `/storage/${name}/k${chosen(50)}`
        if (chosen(4) === 0) await call('apps', 'DELETE', path)
        else await call('apps', 'PUT', path, { value: `${writer} ${n} ${'x'.repeat(chosen(200))}` })
      }
      writing--
    })
    const killing = (async () => {
      for (; writing > 0; kills++) {
        await pause(draw(1_500))
        await nodes[draw(2)]!.kill()
      }
    })()
    const [copy, streamed] = [new Map<string, Copied>(), new Map<string, Copied>()]
    let stream: EventStream | undefined
    let since = ''
    let lastEventId = ''
    const follow = async () => {
      while (writing > 0) {
        const { port } = nodes[turn++ % nodes.length]!
        const headers = { ...events, authorization, ...(lastEventId && { 'last-event-id': lastEventId }) }
        stream = await openEvents(port(), `/v1/collections/${name}/changes`, headers).catch(() => undefined)
        if (!stream) await pause(20)
        if (writing === 0) stream?.close()
        for (let event = await next(stream); event; event = await next(stream)) {
          apply(streamed, event.data)
          lastEventId = event.id
        }
      }
    }
    const following = follow()
    const read = async (into: Map<string, Copied>, from: string, wait: number) => {
      const query = `since=${from}&wait=${wait}&limit=20`
      const { status, body } = await call('sync', 'GET', `/collections/${name}/changes?${query}`)
      expect(status).toBe(200)
      for (const item of body.items) apply(into, item)
      return body as { cursor: string; more: boolean }
    }
    while (writing > 0) since = (await read(copy, since, 1)).cursor
    await Promise.all([...writers, killing])
    stream?.close()
    await following
    const readRest = async (into: Map<string, Copied>, from: string) => {
      const { cursor, more } = await read(into, from, 0)
      if (more) await readRest(into, cursor)
    }
    await readRest(copy, since)
    expect(lastEventId).not.toBe('')
    await readRest(streamed, lastEventId)
    const { body } = await call('sync', 'GET', `/collections/${name}/entries?limit=200`)
    const stored = body.items.map(({ key, value, etag }: Record<'key' | 'value' | 'etag', string>) => [
      key,
      { value, etag },
    ])
    for (const one of [copy, streamed]) {
      expect(
        [...one].sort(([a], [b]) => (a < b ? -1 : 1)),
        `round ${round}`,
      ).toEqual(stored)
    }
  }
  expect(kills).toBeGreaterThanOrEqual(ROUNDS)
})

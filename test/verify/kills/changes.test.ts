import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { chance, seed } from '../../support/chance.ts'
import type { EventStream } from '../../support/event-stream.ts'
import { openEvents } from '../../support/event-stream.ts'
import { times } from '../../support/rounds.ts'
import { endingAfterAll } from '../at-end.ts'
import { demoNodes } from './killed-node.ts'

const WRITERS = 8
const WRITES = times(1_250, 100)
const ROUNDS = times(20, 2)

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

const atEnd = endingAfterAll()

it(`copies that follow the changes, by waiting and by streams, equal the store after kills of two nodes (seed ${seed})`, async () => {
  const nodes = await demoNodes(atEnd)
  let kills = 0

  for (let round = 0; round < ROUNDS; round++) {
    const name = `copied-${round}`
    let writing = WRITERS
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      const chosen = chance(`${round} ${writer}`)
      for (let n = 0; n < WRITES; n++) {
        const path = `/storage/${name}/k${chosen(50)}`
        if (chosen(4) === 0) await nodes.call('DELETE', path)
        else await nodes.call('PUT', path, { body: { value: `${writer} ${n} ${'x'.repeat(chosen(200))}` } })
      }
      writing--
    })
    const killing = nodes.killUntil(() => writing === 0, `kills ${round}`, 1_500)
    const [copy, streamed] = [new Map<string, Copied>(), new Map<string, Copied>()]
    let stream: EventStream | undefined
    let since = ''
    let lastEventId = ''
    const follow = async () => {
      while (writing > 0) {
        const headers = {
          ...events,
          authorization: nodes.authorization,
          ...(lastEventId && { 'last-event-id': lastEventId }),
        }
        stream = await openEvents(nodes.next(), `/v1/collections/${name}/changes`, headers).catch(() => undefined)
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
      const query = `${from && `since=${from}&`}wait=${wait}&limit=20`
      const { status, body } = await nodes.call('GET', `/collections/${name}/changes?${query}`, {
        host: 'sync.localhost',
      })
      expect(status).toBe(200)
      for (const item of body.items) apply(into, item)
      return body as { cursor: string; more: boolean }
    }
    while (writing > 0) since = (await read(copy, since, 1)).cursor
    await Promise.all(writers)
    kills += await killing
    stream?.close()
    await following
    const readRest = async (into: Map<string, Copied>, from: string) => {
      const { cursor, more } = await read(into, from, 0)
      if (more) await readRest(into, cursor)
    }
    await readRest(copy, since)
    expect(lastEventId).not.toBe('')
    await readRest(streamed, lastEventId)
    const { body } = await nodes.call('GET', `/collections/${name}/entries?limit=200`, { host: 'sync.localhost' })
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

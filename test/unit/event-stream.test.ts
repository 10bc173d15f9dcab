import { once } from 'node:events'
import { request } from 'node:http'
import { getLines, getMessages } from '@microsoft/fetch-event-source/lib/cjs/parse.js'
import fc from 'fast-check'
import pino from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Positioned, RestEvent } from '../../rest-facade/facade.ts'
import { procedures } from '../../routers/index.ts'
import { createKoa } from '../../server/http/app.ts'
import { sendEvents } from '../../server/http/event-stream.ts'
import { Heartbeat } from '../../server/http/heartbeat.ts'
import { listen } from '../../server/http/listen.ts'
import { buildProtocol } from '../../server/trpc/stream.ts'
import { deferred } from '../support/deferred.ts'
import { times } from '../support/rounds.ts'

/** Serves events; `read` false: the client reads nothing beyond what the system takes. */
async function served(events: Positioned<RestEvent>, limits: Parameters<typeof sendEvents>[2], read = true) {
  const app = createKoa(pino({ level: 'silent' }), undefined)
  let closed: Promise<unknown> | undefined
  app.use((ctx) => {
    ctx.state.headers = ['Cache-Control', 'private, no-cache']
    closed = once(ctx.res, 'close')
    sendEvents(ctx, events, limits)
  })
  const { port, close } = await listen(app, 0)
  onTestFinished(() => close(0))
  const sent = request({ port, host: '127.0.0.1', agent: false }).end()
  sent.on('error', () => {})
  const [response] = await once(sent, 'response')
  response.on('error', () => {})
  let text = ''
  const ended = new Promise((resolve) => response.once('close', resolve))
  if (read) response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  else response.pause()
  return { closed: closed!, ended, text: () => text, leave: () => sent.destroy() }
}

/** One event, and no other until `end` is called. */
function quiet() {
  const end = deferred()
  async function* one(): AsyncGenerator<RestEvent> {
    yield { id: 'i', data: '1' }
    await end.promise
  }
  return { events: one(), end: end.resolve }
}

class BeatsByHand extends Heartbeat {
  beat = () => {}

  override add(beat: () => void) {
    this.beat = beat
    return () => {}
  }
}

describe('a stream of events', () => {
  it('asks for no more than its client reads, and cuts one that does not read', async () => {
    let taken = 0
    async function* endless(): AsyncGenerator<RestEvent> {
      for (;;) {
        taken++
        yield { id: 'i', data: `"${'x'.repeat(60_000)}"` }
      }
    }
    const { closed } = await served(endless(), { pace: { bytesPerSecond: 1, graceMs: 1 } }, false)
    await closed
    // What sockets of this machine take is some megabytes.
    expect(taken).toBeLessThan(1_000)
  })

  it('sends comments between the events, until its client leaves', async () => {
    const { events, end } = quiet()
    const stream = await served(events, { heartbeat: new Heartbeat(5) })
    await expect.poll(stream.text).toMatch(/^retry: [12]\d{3}\nid: i\ndata: 1\n\n(?::\n){3}/)
    stream.leave()
    await stream.closed
    end()
  })

  it('has no event but its own for a reader that takes each empty line for one, and each id', async () => {
    const position = fc.option(fc.stringMatching(/^[\w-]+$/), { nil: undefined })
    const events = fc.array(fc.tuple(fc.json(), fc.array(position, { maxLength: 3 })), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(events, fc.integer({ min: 1, max: 40 }), async (sent, chunk) => {
        const heartbeat = new BeatsByHand(60_000)
        let moved: string | undefined
        async function* beating(): AsyncGenerator<RestEvent> {
          for (const [n, [data, positions]] of sent.entries()) {
            yield { id: String(n), data }
            for (moved of positions) heartbeat.beat()
          }
        }
        const stream = await served(Object.assign(beating(), { position: () => moved }), { heartbeat })
        await stream.ended
        const [seen, pauses, ids]: [{ id: string; data: string }[], number[], string[]] = [[], [], []]
        const read = getLines(
          getMessages(
            (id) => ids.push(id),
            (pause) => pauses.push(pause),
            (message) => seen.push(message),
          ),
        )
        const bytes = Buffer.from(stream.text())
        for (let from = 0; from < bytes.length; from += chunk) read(bytes.subarray(from, from + chunk))
        expect(seen.map(({ id, data }) => [id, data])).toEqual(sent.map(([data], n) => [String(n), data]))
        expect(ids).toEqual(sent.flatMap(([, positions], n) => [String(n), ...positions.filter((one) => one)]))
        expect(pauses).toEqual([expect.toSatisfy((pause: number) => pause >= 1_000 && pause < 2_000)])
      }),
      { numRuns: times(300, 20) },
    )
  })

  it('sends no comment within an event of megabytes', async () => {
    const data = Buffer.from(`"${'x'.repeat(8_000_000)}"`)
    async function* large(): AsyncGenerator<RestEvent> {
      for (const id of ['i', 'j', 'k']) yield { id, data }
    }
    const stream = await served(large(), { heartbeat: new Heartbeat(1) })
    await stream.ended
    const events = stream
      .text()
      .split('\n\n')
      .map((block) => block.replace(/^(?:(?:retry)?:.*\n)+/, ''))
    expect(events.map((event) => event.length)).toEqual([...Array(3).fill('id: i\ndata: '.length + data.length), 0])
  })

  it("of tRPC sends `connected` first, a `ping` in place of a comment, and ends by `return`, or its error's shape", async () => {
    const procedure = procedures['storage.watch']!
    const protocol = buildProtocol({ path: 'storage.watch', procedure, isBatch: false })
    const { events, end } = quiet()
    const stream = await served(events, { heartbeat: new Heartbeat(5), protocol })
    const [connected, ping] = ['event: connected\ndata: {}\n\n', 'event: ping\ndata: \n\n']
    await expect.poll(stream.text).toMatch(/^retry: [12]\d{3}\n/)
    await expect.poll(stream.text).toContain(`\n${connected}id: i\ndata: 1\n\n${ping}${ping}`)
    end()
    await stream.ended
    expect(stream.text()).toMatch(/\n\nevent: return\ndata: \n\n$/)
    expect(protocol.idle('p')).toBe(`id: p\n${ping}`)
    expect(protocol.end(new DOMException('left', 'AbortError'))).toBe('')
    expect(protocol.end(new Error('the cause'))).toBe(
      'event: serialized-error\ndata: {"message":"Something went wrong on our side.","code":-32603,"data":{"code":"INTERNAL_SERVER_ERROR","httpStatus":500,"path":"storage.watch","error":"internal_error"}}\n\n',
    )
  })

  it('ends when reading fails, for the client to ask again', async () => {
    async function* failing(): AsyncGenerator<RestEvent> {
      yield { id: 'i', data: '1' }
      throw new Error('the database is away')
    }
    const stream = await served(failing(), {})
    await stream.ended
    expect(stream.text()).toMatch(/id: i\ndata: 1\n\n$/)
  })

  it('sends a text of megabytes whole, characters of several bytes too', async () => {
    const data = JSON.stringify('ü€😀'.repeat(300_000))
    async function* one(): AsyncGenerator<RestEvent> {
      yield { id: 'i', data }
      yield { id: 'j', data: Buffer.from(data) }
    }
    const stream = await served(one(), {})
    await stream.ended
    const sent = [`id: i\ndata: ${data}`, `id: j\ndata: ${data}`, '']
    // A failure would print megabytes.
    expect(stream.text().slice(stream.text().indexOf('id:')) === sent.join('\n\n')).toBe(true)
  })
})

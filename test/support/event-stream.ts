import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:http'
import type { World } from './world.ts'

export interface ServerSentEvent {
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  data: any
  /** As it came. */
  text: string
}

export interface EventStream {
  headers: IncomingHttpHeaders
  /** The next events. Rejects when the stream ends before. */
  take: (count: number) => Promise<ServerSentEvent[]>
  /** What came beside the events, which end with an empty line: `retry: 1234`, `:`, `id: X` alone, and events of tRPC's own. */
  others: string[]
  /** What came since the last empty line. */
  rest: () => string
  /** Reads nothing more from the socket. */
  pause: () => void
  /** Resolves when the service ends the stream. */
  ended: Promise<void>
  close: () => void
}

/** Opens a stream of server-sent events. Rejects with the status and body of any other answer. */
export function openEvents(port: number, path: string, headers: Record<string, string>): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, agent: false, headers })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const { statusCode } = response
      if (statusCode === 200) return resolve(toStream(response, () => sent.destroy()))
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => reject({ status: statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) }))
    })
    sent.end()
  })
}

/** The stream of a collection's changes at `sync`, by default for the tenant's member. */
export const openChanges = async (
  { publicPort, ids, token }: Pick<World, 'publicPort' | 'ids' | 'token'>,
  collection: string,
  {
    query = '',
    claims,
    headers,
  }: { query?: string | undefined; claims?: object | undefined; headers?: Record<string, string> } = {},
) =>
  openEvents(publicPort, `/v1/collections/${collection}/changes${query}`, {
    host: 'sync.test',
    accept: 'text/event-stream',
    authorization: `Bearer ${await token({ organisation: ids.club, ...claims })}`,
    ...headers,
  })

function toStream(response: IncomingMessage, close: () => void): EventStream {
  const events: ServerSentEvent[] = []
  const others: string[] = []
  let [text, isOver] = ['', false]
  let wake = () => {}
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = `${text}${chunk}`.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const [, before, rest] = /^((?:(?:retry)?:[^\n]*\n|id:[^\n]*\n(?!data:))*)(.*)$/s.exec(block)!
      others.push(...before!.split('\n').slice(0, -1))
      const [, id, data] = /^id: (.+)\ndata: (.+)$/.exec(rest!) ?? []
      if (id && data) events.push({ id, data: JSON.parse(data), text: data })
      else others.push(rest!)
    }
    wake()
  })
  const ended = new Promise<void>((resolve) => {
    response.on('close', () => {
      others.push(...text.split('\n').slice(0, -1))
      isOver = true
      wake()
      resolve()
    })
    response.on('error', () => {})
  })
  return {
    headers: response.headers,
    others,
    rest: () => text,
    ended,
    pause: () => void response.pause(),
    close,
    async take(count) {
      while (events.length < count) {
        if (isOver) throw new Error('the stream has ended')
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return events.splice(0, count)
    },
  }
}

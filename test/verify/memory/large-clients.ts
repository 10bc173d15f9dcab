/** Clients with large bodies, in a process of their own, so that they do not delay the test that measures others. */
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const MB = 1_000_000
/** A slow reader takes one chunk of 64 KiB so often, and leaves after a while. */
const PAUSE_MS = 500
const READING_MS = 35_000

interface Task {
  kind: 'puts' | 'puts over tRPC' | 'uploads that stop' | 'slow readers'
  port: number
  internalPort: number
  token: string
  count: number
}

const { kind, port, internalPort, token, count }: Task = JSON.parse(process.argv[2]!)
const body = Buffer.from(`{"value":"${'x'.repeat(10 * MB - 12)}"}`)
/** Parsed, it would take 28 times its length. */
const hostile = `[${'[],'.repeat((10 * MB - 100) / 3)}[]]`
const batch = Buffer.from(`{"0":{"collection":"large","key":"k00000","value":${hostile}}}`)
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })

/** Sends a request; resolves to its response, or to the code of the error that ended it. */
function send(
  method: string,
  path: string,
  content?: Buffer,
  sentBytes = content?.length,
  to = port,
): Promise<IncomingMessage | string> {
  return new Promise((resolve) => {
    const headers = {
      host: 'apps.localhost',
      authorization: `Bearer ${token}`,
      ...(content && { 'content-type': 'application/json', 'content-length': content.length }),
    }
    const sent = request({ host: '127.0.0.1', port: to, method, path, agent, headers }, resolve)
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    if (content && sentBytes! < content.length) sent.write(content.subarray(0, sentBytes))
    else sent.end(content)
  })
}

/** How a response ends: its status if it is whole, else 'cut' by the service, or 'left' by the client. */
async function outcomeOf(response: IncomingMessage | string, pauseMs = 0): Promise<string> {
  if (typeof response === 'string') return response
  const until = performance.now() + READING_MS
  try {
    for await (const _chunk of response) {
      if (pauseMs > 0) await sleep(pauseMs)
      if (performance.now() > until) return 'left'
    }
    return String(response.statusCode)
  } catch {
    return 'cut'
  }
}

const clients: Record<Task['kind'], () => Promise<string>> = {
  puts: async () => outcomeOf(await send('PUT', '/v1/storage/large/k00000', body)),
  'puts over tRPC': async () =>
    outcomeOf(await send('POST', '/trpc/storage.put?batch=1', batch, batch.length, internalPort)),
  // In place of the entry of that size: another one would be refused unread.
  'uploads that stop': async () => outcomeOf(await send('PUT', '/v1/storage/large/k00000', body, 9 * MB)),
  'slow readers': async () => outcomeOf(await send('GET', '/v1/storage/large/k00000'), PAUSE_MS),
}

const counts: Record<string, number> = {}
await Promise.all(
  Array.from({ length: count }, async () => {
    const outcome = await clients[kind]()
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }),
)
process.send!(counts)
process.disconnect()

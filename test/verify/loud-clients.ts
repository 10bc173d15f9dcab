/** Clients of one team that load the service, in a process of their own: they do not delay the test that measures others. */
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const MB = 1_000_000
/** A slow reader takes one chunk of 64 KiB so often. */
const PAUSE_MS = 500

export interface Task {
  kind: keyof typeof kinds
  port: number
  internalPort: number
  token: string
  /** At once. */
  count: number
  /** A slow reader leaves after that. */
  readingMs?: number
}

const {
  kind,
  port,
  internalPort,
  token,
  count,
  readingMs = Number.POSITIVE_INFINITY,
}: Task = JSON.parse(process.argv[2]!)
const maxSockets = Number.POSITIVE_INFINITY
let agent = new Agent({ maxSockets })
const toEntry = (bytes: number) => Buffer.from(`{"value":"${'x'.repeat(bytes - 12)}"}`)
const KEY = '/v1/storage/large/k00000'

interface Sent {
  content?: Buffer
  /** In place of all of it. */
  sentBytes?: number
  to?: number
  bearer?: string
}

/** Sends a request; resolves to its response, or to the code of the error that ended it. */
function send(method: string, path: string, { content, sentBytes, to = port, bearer = token }: Sent = {}) {
  return new Promise<IncomingMessage | string>((resolve) => {
    const headers = {
      host: 'apps.localhost',
      authorization: `Bearer ${bearer}`,
      ...(content && { 'content-type': 'application/json', 'content-length': content.length }),
    }
    const sent = request({ host: '127.0.0.1', port: to, method, path, agent, headers }, resolve)
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    if (content && sentBytes) sent.write(content.subarray(0, sentBytes))
    else sent.end(content)
  })
}

/** How a response ends: its status if it is whole, else 'cut' by the service, or 'left' by the client. */
async function readOutcome(response: IncomingMessage | string, pauseMs = 0): Promise<string> {
  if (typeof response === 'string') return response
  const until = performance.now() + readingMs
  try {
    for await (const _chunk of response) {
      if (pauseMs > 0) await sleep(pauseMs)
      if (performance.now() > until || !isRunning) return 'left'
    }
    return String(response.statusCode)
  } catch {
    return 'cut'
  }
}

/** Parsed, it would take 28 times its length. */
const hostileBatch = () =>
  Buffer.from(`{"0":{"collection":"large","key":"k00000","value":[${'[],'.repeat((10 * MB - 100) / 3)}[]]}}`)
const ten = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [n, { collection: 'large' }]))
const lists = `/trpc/${Array(10).fill('storage.list').join(',')}?batch=1&input=${encodeURIComponent(JSON.stringify(ten))}`
const forged = () => `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(85)}${Math.floor(Math.random() * 10)}`

/** Each kind of request: its content, prepared once, and how it ends. */
const kinds = {
  puts: () => {
    const content = toEntry(10 * MB)
    return async () => readOutcome(await send('PUT', KEY, { content }))
  },
  'puts over tRPC': () => {
    const content = hostileBatch()
    return async () => readOutcome(await send('POST', '/trpc/storage.put?batch=1', { content, to: internalPort }))
  },
  // In place of the entry of that size: another one would be refused unread.
  'uploads that stop': () => {
    const content = toEntry(10 * MB)
    return async () => readOutcome(await send('PUT', KEY, { content, sentBytes: 9 * MB }))
  },
  'slow readers': () => async () => readOutcome(await send('GET', KEY), PAUSE_MS),
  'large bodies': () => {
    const content = toEntry(5 * MB)
    return async () => readOutcome(await send('PUT', '/v1/storage/large/k1', { content }))
  },
  batches: () => async () => readOutcome(await send('GET', lists, { to: internalPort })),
  'bad tokens': () => async () => readOutcome(await send('GET', '/v1/me/profile', { bearer: forged() })),
}

const act = kinds[kind]()
let isRunning = true
const outcomes: Record<string, number> = {}
async function once() {
  const outcome = await act()
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  // A connection that is refused is tried again, but not in a busy loop.
  if (/^E/.test(outcome)) await sleep(100)
}
const all = (client: () => Promise<void>) => Promise.all(Array.from({ length: count }, client))

/** Acts once with each client and reports how that ended; or again and again until `stop`, which reports as well. */
process.on('message', async (message: 'once' | 'start' | 'stop' | 'end') => {
  if (message === 'end') return process.exit(0)
  isRunning = message !== 'stop'
  if (message === 'once') await all(once)
  if (message !== 'start') return process.send!(outcomes)
  agent = new Agent({ maxSockets, keepAlive: true })
  void all(async () => {
    while (isRunning) await once()
  })
})
process.send!('ready')

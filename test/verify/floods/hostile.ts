/** A team that attacks, in a process of its own: what it does costs the test that measures others no time. */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export type Attack = 'large bodies' | 'slow readers' | 'batches' | 'bad tokens'

interface Task {
  attack: Attack
  port: number
  internalPort: number
  token: string
}

const { attack, port, internalPort, token }: Task = JSON.parse(process.argv[2]!)
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
let running = false

/** Status of the answer, or the code of the error that ended it. */
function send(to: number, method: string, path: string, bearer = token, body?: Buffer, pauseMs = 0): Promise<string> {
  return new Promise((resolve) => {
    const headers = {
      host: 'apps.localhost',
      authorization: `Bearer ${bearer}`,
      ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
    }
    const sent = request({ host: '127.0.0.1', port: to, method, path, agent, headers }, async (response) => {
      try {
        for await (const _chunk of response) {
          if (pauseMs > 0) await sleep(pauseMs)
          if (pauseMs > 0 && !running) break
        }
      } catch {}
      resolve(String(response.statusCode))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end(body)
  })
}

const large = Buffer.from(`{"value":"${'x'.repeat(5_000_000)}"}`)
const list = encodeURIComponent(
  JSON.stringify(Object.fromEntries(Array.from({ length: 10 }, (_, n) => [n, { collection: 'large' }]))),
)
const batch = `/trpc/${Array(10).fill('storage.list').join(',')}?batch=1&input=${list}`
const forged = () => `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(85)}${Math.floor(Math.random() * 10)}`

/** How many at once, and what each does again and again. */
const attacks: Record<Attack, [number, () => Promise<string>]> = {
  'large bodies': [20, () => send(port, 'PUT', '/v1/storage/large/k1', token, large)],
  'slow readers': [40, () => send(port, 'GET', '/v1/storage/large/k0', token, undefined, 500)],
  batches: [20, () => send(internalPort, 'GET', batch)],
  'bad tokens': [100, () => send(port, 'GET', '/v1/me/profile', forged())],
}

const outcomes: Record<string, number> = {}

async function repeat(act: () => Promise<string>) {
  while (running) {
    const outcome = await act()
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    // A connection that is refused is tried again, but not in a busy loop.
    if (/^E/.test(outcome)) await sleep(100)
  }
}

process.on('message', (message: 'start' | 'stop' | 'end') => {
  if (message === 'start') {
    running = true
    const [count, act] = attacks[attack]
    for (let n = 0; n < count; n++) void repeat(act)
  }
  if (message === 'stop') {
    running = false
    process.send!({ outcomes })
  }
  if (message === 'end') process.exit(0)
})
process.send!('ready')

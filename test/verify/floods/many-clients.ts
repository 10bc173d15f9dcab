/** Clients that send one request each, in a process of their own: what they do costs the test that measures others no time. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Task {
  port: number
  clients: number
  /** Within which they come, evenly. */
  withinMs: number
  /** The head of the request, up to the blank line. */
  head: string
  /** The length of a body, all of which but its last byte is sent. */
  stalledBytes?: number
}

const { port, clients, withinMs, head, stalledBytes }: Task = JSON.parse(process.argv[2]!)
const body = stalledBytes === undefined ? undefined : Buffer.alloc(stalledBytes - 1, 'a')

/** Resolves when the service has closed the connection. */
function send() {
  const socket = connect({ port, host: '127.0.0.1' })
  const closed = new Promise<void>((resolve) => socket.on('error', () => {}).on('close', () => resolve()))
  socket.resume().write(`${head}${body ? `Content-Length: ${stalledBytes}\r\n` : ''}\r\n`)
  if (body) socket.write(body)
  return closed
}

const all: Promise<void>[] = []
for (const began = performance.now(); all.length < clients; await sleep(10)) {
  const due = withinMs === 0 ? clients : Math.min(clients, (clients * (performance.now() - began)) / withinMs)
  while (all.length < due) all.push(send())
}
await Promise.all(all)
process.exit(0)

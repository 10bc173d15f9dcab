/** Clients that send all of a body but its last byte, in a process of their own. Started by a test. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Task {
  port: number
  clients: number
  /** Within which they come, evenly. */
  withinMs: number
  /** Of the request, up to the blank line. */
  head: string
  bytes: number
}

const { port, clients, withinMs, head, bytes }: Task = JSON.parse(process.argv[2]!)
const body = Buffer.alloc(bytes - 1, 'a')

/** Resolves when the service has closed the connection. */
function stall() {
  const socket = connect({ port, host: '127.0.0.1' })
  const closed = new Promise<void>((resolve) => socket.on('error', () => {}).on('close', () => resolve()))
  socket.resume().write(`${head}Content-Length: ${bytes}\r\n\r\n`)
  socket.write(body)
  return closed
}

const all: Promise<void>[] = []
for (const began = performance.now(); all.length < clients; await sleep(10)) {
  const due = Math.min(clients, (clients * (performance.now() - began)) / withinMs)
  while (all.length < due) all.push(stall())
}
await Promise.all(all)
process.exit(0)

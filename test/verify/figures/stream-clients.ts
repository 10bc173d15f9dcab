/** Clients of streams, in a process of their own: what they do costs the test that measures the service no time. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface Task {
  port: number
  path: string
  /** Each opens `each` streams. */
  tokens: string[]
  each: number
}

/** What opens at once. */
const AT_ONCE = 50

const sockets: Socket[] = []

async function open({ port, path }: Task, token: string) {
  const socket = connect({ port, host: '127.0.0.1' })
  sockets.push(socket)
  socket.on('error', () => {})
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: sync.localhost',
    'Accept: text/event-stream',
    `Authorization: Bearer ${token}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const [head] = await once(socket, 'data')
  socket.resume()
  return String(head).startsWith('HTTP/1.1 200')
}

/** Opens the streams of a task, and answers how many the service has begun; ends all of them at 'drop'. */
process.on('message', async (message: Task | 'drop') => {
  if (message === 'drop') {
    for (const socket of sockets.splice(0)) socket.destroy()
    process.send!(0)
    return
  }
  const tokens = message.tokens.flatMap((token) => Array<string>(message.each).fill(token))
  let begun = 0
  const openRest = async () => {
    for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) {
      if (await open(message, token)) begun++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, openRest))
  process.send!(begun)
})

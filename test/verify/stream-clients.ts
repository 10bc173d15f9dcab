/** Clients of streams and of waits, in a process of their own: their work costs the test that measures the service no time. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface Task {
  port: number
  path: string
  /** A call each. */
  tokens: string[]
  /** `application/json` for waits. */
  accept?: string
  /** Calls that begin at once. */
  atOnce?: number
  /** This many of the clients read nothing after their head. */
  stalled?: number
  /** A client is done with this many events. */
  events?: number
}

/** `opened`: heads with 200. `refused`: other ones. `done`: clients with all events. */
export interface Report {
  opened: number
  refused: number
  done: number
}

let report: Report = { opened: 0, refused: 0, done: 0 }
const sockets: Socket[] = []
const MARK = Buffer.from('\nid: ')

/** Resolves with the head. */
async function open({ port, path, accept = 'text/event-stream', events = 0 }: Task, token: string, isStalled: boolean) {
  const socket = connect({ port, host: '127.0.0.1' })
  sockets.push(socket)
  socket.on('error', () => {})
  const lines = [`GET ${path} HTTP/1.1`, 'Host: sync.localhost', `Accept: ${accept}`, `Authorization: Bearer ${token}`]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (head.toString('latin1').startsWith('HTTP/1.1 200')) report.opened++
  else report.refused++
  if (isStalled) return void socket.pause()
  if (events === 0) return void socket.resume()
  let [seen, rest] = [0, Buffer.alloc(0)]
  const count = (chunk: Buffer) => {
    const bytes = Buffer.concat([rest, chunk])
    for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + 1)) seen++
    rest = bytes.subarray(-MARK.length + 1)
    if (seen < events) return
    report.done++
    socket.off('data', count).resume()
  }
  socket.on('data', count)
  count(head)
}

function start(task: Task) {
  const calls = task.tokens.map((token, i) => ({ token, isStalled: i < (task.stalled ?? 0) })).values()
  const openRest = async () => {
    for (const { token, isStalled } of calls) await open(task, token, isStalled).catch(() => {})
  }
  for (let i = 0; i < (task.atOnce ?? task.tokens.length); i++) void openRest()
}

/** Starts a task, ends all calls, or answers with the report. */
process.on('message', (message: Task | 'drop' | 'report') => {
  if (message === 'report') return void process.send!(report)
  if (message !== 'drop') return start(message)
  for (const socket of sockets.splice(0)) socket.destroy()
  report = { opened: 0, refused: 0, done: 0 }
})

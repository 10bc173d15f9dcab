/** Readers of streams, in a process of their own: they open all at once, and report to their parent. */
import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface Readers {
  port: number
  path: string
  /** One stream each. */
  tokens: string[]
  /** Of these, the ones that read nothing after their head. */
  stalled: number
  /** A reader is done with this many events. */
  events: number
}

/** `opened`: heads that arrived. `done`: readers with all events. */
export interface Report {
  opened: number
  refused: number
  done: number
}

const report: Report = { opened: 0, refused: 0, done: 0 }
const MARK = Buffer.from('\nid: ')

function open({ port, path, events }: Readers, token: string, isStalled: boolean): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: sync.localhost',
    'Accept: text/event-stream',
    `Authorization: Bearer ${token}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  socket.on('error', () => {})
  let [seen, rest] = [0, Buffer.alloc(0)]
  socket.once('data', (head) => {
    if (head.toString('latin1').startsWith('HTTP/1.1 200')) report.opened++
    else report.refused++
    if (isStalled) return void socket.pause()
    const count = (chunk: Buffer) => {
      const bytes = Buffer.concat([rest, chunk])
      for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + 1)) seen++
      rest = bytes.subarray(-MARK.length + 1)
      if (seen < events) return
      report.done++
      socket.off('data', count).resume()
    }
    count(head)
    socket.on('data', count)
  })
  return socket
}

process.once('message', (task: Readers) => {
  for (const [i, token] of task.tokens.entries()) open(task, token, i < task.stalled)
})
process.on('message', (message) => message === 'report' && process.send!(report))

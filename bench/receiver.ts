import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** What the receiver has counted since it was last asked. */
export interface Heard {
  count: number
  /** Milliseconds from publishing to receipt. */
  delays: number[]
}

/** A TLS receiver in a process of its own. Requests to `/dead…` are read and never answered. */
const { KEY: key, CERT: cert } = process.env
let heard: Heard = { count: 0, delays: [] }
const server = createServer({ key: key!, cert: cert! }, (request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    heard.count++
    if (request.url!.startsWith('/dead')) return
    heard.delays.push(Date.now() - Date.parse(JSON.parse(body).timestamp))
    response.writeHead(204).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))

process.on('message', (question) => {
  if (question !== 'heard') return
  process.send!(heard)
  heard = { count: 0, delays: [] }
})

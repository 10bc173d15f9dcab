import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** What a receiver says when it is asked: what came since the time before. */
export interface Heard {
  count: number
  /** From publishing to receipt, in ms, one for each. */
  delays: number[]
}

/** A receiver on TLS, in a process of its own. What comes to a path of `/dead` is read, and never answered. */
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

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/** The answer to a query: addresses (an empty list: no such record), an error, or nothing at all. */
export type Records = readonly string[] | 'no such name' | 'failure' | 'silence'

const CODES = { failure: 2, 'no such name': 3 }

/** A name server on 127.0.0.1. It records queries as `A name` or `AAAA name`; its answers have a TTL of 0. */
export async function startNameServer(records: (name: string, type: 'A' | 'AAAA') => Records) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1) === 1 ? 'A' : 'AAAA'
    const name = labels.join('.')
    asked.push(`${type} ${name}`)
    const answer = records(name, type)
    if (answer === 'silence') return
    const addresses = typeof answer === 'string' ? [] : answer
    const header = Buffer.alloc(12)
    header.writeUInt16BE(query.readUInt16BE(0))
    header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? CODES[answer] : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    const question = query.subarray(12, at + 5)
    socket.send(Buffer.concat([header, question, ...addresses.map(encodeRecord)]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  }
}

/** A record for the name in the question, which starts at byte 12. */
function encodeRecord(address: string) {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : toBytes(address)
  const head = Buffer.from([0xc0, 12, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length])
  return Buffer.concat([head, data])
}

function toBytes(address: string) {
  const [start = '', end] = address.split('::')
  const groups = (part: string | undefined) => (part ? part.split(':') : [])
  const zeros = new Array(8 - groups(start).length - groups(end).length).fill('0')
  const all = end === undefined ? groups(start) : [...groups(start), ...zeros, ...groups(end)]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

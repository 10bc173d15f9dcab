import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'

/** Uploads values of 10 MB one after another, in a separate process, each over about a second as a network would. */
const { PORT, TOKENS } = process.env
/** Below the quota, with the tenant's other entries. */
const BYTES = 10_000_000
const PIECE = 200_000
const PIECE_MS = 20

const body = Buffer.from(`{"value":"${'Rowing '.repeat(BYTES / 7)}"}`)
const agent = new Agent({ keepAlive: true })
let isOver = false
let stored = 0

async function* pieces() {
  for (let at = 0; at < body.length; at += PIECE) {
    yield body.subarray(at, at + PIECE)
    await pause(PIECE_MS)
  }
}

async function upload(token: string): Promise<void> {
  const call = request({
    host: '127.0.0.1',
    port: Number(PORT),
    agent,
    method: 'PUT',
    path: '/v1/storage/uploads/film',
    headers: {
      host: 'apps.localhost',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
    },
  })
  const answered = once(call, 'response')
  await pipeline(pieces, call)
  const [response] = (await answered) as [IncomingMessage]
  await once(response.resume(), 'end')
  if (response.statusCode !== 200) throw new Error(`An upload was answered with ${response.statusCode}.`)
  stored++
}

process.on('message', () => {
  isOver = true
})
const uploads = (JSON.parse(TOKENS!) as string[]).map(async (token) => {
  while (!isOver) await upload(token)
})
await Promise.all(uploads)
process.send!(stored, () => process.disconnect())

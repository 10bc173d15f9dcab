import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

/** Uploads values of 5 MB one after another, in a process of its own, each over about a second as a network would. */
const { PORT, TOKENS } = process.env
const BYTES = 5_000_000
const PIECE = 100_000
const PIECE_MS = 20

const body = Buffer.from(`{"value":"${'Rowing '.repeat(BYTES / 7)}"}`)
const agent = new Agent({ keepAlive: true })
let isOver = false
let stored = 0

async function upload(token: string): Promise<void> {
  const headers = {
    ...{ host: 'apps.localhost', authorization: `Bearer ${token}` },
    ...{ 'content-type': 'application/json', 'content-length': body.length },
  }
  const target = {
    host: '127.0.0.1',
    port: Number(PORT),
    agent,
    method: 'PUT',
    path: '/v1/storage/uploads/film',
    headers,
  }
  const call = request(target)
  const answered = new Promise<number>((resolve, reject) => {
    call.on('error', reject)
    call.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode!))
    })
  })
  for (let at = 0; at < body.length; at += PIECE) {
    call.write(body.subarray(at, at + PIECE))
    await pause(PIECE_MS)
  }
  call.end()
  const status = await answered
  if (status !== 200) throw new Error(`An upload was answered with ${status}.`)
  stored++
}

process.on('message', () => {
  isOver = true
})
await Promise.all(
  JSON.parse(TOKENS!).map(async (token: string) => {
    while (!isOver) await upload(token)
  }),
)
process.send!(stored, () => process.disconnect())

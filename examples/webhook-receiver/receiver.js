// Receives webhooks over HTTPS, verifies their signatures, and prints a line for each event.
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { Webhook } from 'standardwebhooks'

const { WEBHOOK_SECRET, TLS_KEY, TLS_CERT, PORT = '4000' } = process.env
if (!WEBHOOK_SECRET || !TLS_KEY || !TLS_CERT) throw new Error('Set WEBHOOK_SECRET, TLS_KEY and TLS_CERT.')

const MAX_BYTES = 1024 * 1024
const print = (line) => process.stdout.write(`${line}\n`)

// Hashes have equal lengths, so that comparing them takes the same time for every guess.
const hash = (text) => createHash('sha256').update(text).digest()
const isSecret = (given) => timingSafeEqual(hash(given ?? ''), hash(WEBHOOK_SECRET))

// The key is the secret as text. Messages over five minutes old are refused as well, which prevents replays.
const webhook = new Webhook(WEBHOOK_SECRET, { format: 'raw' })

// A delivery may arrive twice, with the same id. Store the ids with your data if an event must not count twice.
const seen = new Set()
function isNew(id) {
  if (seen.has(id)) return false
  if (seen.add(id).size > 10_000) seen.delete(seen.values().next().value)
  return true
}

function receive(headers, body) {
  if (!isSecret(headers['x-webhook-secret'])) return 401
  let event
  try {
    event = webhook.verify(body, headers)
  } catch {
    return 401
  }
  // Do slow work after responding: the sender waits 15 seconds, then retries later.
  const { timestamp, type, id, data } = event
  if (isNew(headers['webhook-id'])) print(`${timestamp} ${type} ${id} ${JSON.stringify(data)}`)
  return 204
}

const server = createServer({ key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) }, (request, response) => {
  const answer = (status) => response.writeHead(status).end()
  if (request.method !== 'POST') return answer(405)
  const chunks = []
  let size = 0
  request.on('data', (chunk) => {
    size += chunk.length
    if (size <= MAX_BYTES) chunks.push(chunk)
  })
  request.on('end', () => answer(size > MAX_BYTES ? 413 : receive(request.headers, Buffer.concat(chunks).toString())))
})
server.listen(Number(PORT), () => print(`Receiving at https://localhost:${server.address().port}/`))

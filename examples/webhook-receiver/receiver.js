// Receives webhooks over HTTPS, believes those that its sender has signed, and prints a line for each event.
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { Webhook } from 'standardwebhooks'

const { WEBHOOK_SECRET, TLS_KEY, TLS_CERT, PORT = '4000' } = process.env
if (!WEBHOOK_SECRET || !TLS_KEY || !TLS_CERT) throw new Error('WEBHOOK_SECRET, TLS_KEY and TLS_CERT have to be set.')

const MAX_BYTES = 1024 * 1024
const print = (line) => process.stdout.write(`${line}\n`)

// Hashes are of one length, and how long it takes to compare them tells nothing about the secret.
const hash = (text) => createHash('sha256').update(text).digest()
const isSecret = (given) => timingSafeEqual(hash(given ?? ''), hash(WEBHOOK_SECRET))

// The key is the secret as it stands. Also refuses what is older than five minutes, so nobody can send it again later.
const webhook = new Webhook(WEBHOOK_SECRET, { format: 'raw' })

// A delivery may come twice, with the same id. Keep the ids with your data if your events must not count twice.
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
  // What takes longer than a few seconds is for after the answer: the sender waits for 15, then tries again later.
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

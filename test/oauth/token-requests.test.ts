import { AsyncLocalStorage, executionAsyncId } from 'node:async_hooks'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import Koa from 'koa'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { State } from '../../server/http/state.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { peekBody, rewriteForm } from '../../server/oauth/endpoints/token-body.ts'
import { tokenLimit } from '../../server/oauth/endpoints/token-limit.ts'
import { Connection } from '../raw/socket.ts'
import { listenLocally } from '../support/local-server.ts'
import { authWorld, issuer } from './auth-world.ts'
import { Browser } from './browser.ts'

const LENGTH = 'Content-Length'
const CHUNKED = 'Transfer-Encoding: chunked'

/** Answers a request with what `read` makes of it. */
async function serve(read: (request: IncomingMessage) => Promise<string>) {
  const server = createServer((request, response) => {
    read(request).then(
      (text) => response.end(text),
      () => response.destroy(),
    )
  })
  return listenLocally(server)
}

const head = (framing: string) =>
  `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n${framing}\r\n\r\n`
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** A form in pieces, each a chunk and each sent by itself; the end of the body comes with the last or after it. */
async function post(port: number, framing: string, pieces: string[], isEndApart: boolean) {
  const connection = await Connection.open(port)
  const isChunked = framing === CHUNKED
  const parts = isChunked ? pieces.map(chunk) : [...pieces]
  if (isChunked && (isEndApart || parts.length === 0)) parts.push(chunk(''))
  else if (isChunked) parts[parts.length - 1] += chunk('')
  await connection.send(head(isChunked ? CHUNKED : `${LENGTH}: ${pieces.join('').length}`))
  for (const part of parts) await connection.send(part)
  const { text } = await connection.answer()
  connection.reset()
  return text
}

it('a body that is read twice before is whole for the next reader, however it arrives', async () => {
  const port = await serve(async (request) => {
    const peeked = [await peekBody(request, 100), await peekBody(request, 100)]
    const body = await buffer(request)
    return JSON.stringify([...peeked.map((one) => one?.toString() ?? ''), body.toString()])
  })
  const arriving = fc.tuple(
    fc.constantFrom(LENGTH, CHUNKED),
    fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 6 }),
    fc.boolean(),
  )
  await fc.assert(
    fc.asyncProperty(arriving, async ([framing, pieces, isEndApart]) => {
      const text = pieces.join('')
      expect(JSON.parse(await post(port, framing, pieces, isEndApart))).toEqual([text, text, text])
    }),
    { numRuns: 200 },
  )
})

it.each([LENGTH, CHUNKED])('a body above the limit is not read, and stays whole: %s', async (framing) => {
  const port = await serve(async (request) => {
    const peeked = await peekBody(request, 10)
    return JSON.stringify([peeked, (await buffer(request)).toString()])
  })
  const pieces = ['a=12345', '6789', '0123']
  expect(JSON.parse(await post(port, framing, pieces, true))).toEqual([null, pieces.join('')])
})

it.each([LENGTH, CHUNKED])('a rewritten form has the length of what the next reader gets: %s', async (framing) => {
  const port = await serve(async (request) => {
    await rewriteForm(request, (form) => {
      form.set('client_id', 'café')
      return true
    })
    const body = await buffer(request)
    return JSON.stringify([Number(request.headers['content-length']) === body.length, body.toString()])
  })
  expect(JSON.parse(await post(port, framing, ['grant_type=', 'refresh_token'], true))).toEqual([
    true,
    'grant_type=refresh_token&client_id=caf%C3%A9',
  ])
})

/** Makes requests of one address for tokens, where one refresh token exists; resolves to their status. */
async function startEndpoint(failures: number) {
  const find = (model: string) => async (id: string) => (model === 'RefreshToken' && id === 'good' ? {} : undefined)
  const limits = memoryLimits(() => 0)
  const limit = tokenLimit({ storage: (model) => ({ find: find(model) }) as never, now: () => 0, failures, limits })
  let status = 200
  const app = new Koa<State>().use((ctx) => {
    ctx.state.clientAddress = '192.0.2.1'
    return limit(ctx, async () => {
      ctx.status = status
    })
  })
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return async (answer: number, fields: Record<string, string> = {}) => {
    status = answer
    const body = new URLSearchParams(fields)
    return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).status
  }
}

it('a request that the service fails does not count against its address', async () => {
  const ask = await startEndpoint(2)
  for (const status of [500, 503, 503, 200, 200]) expect(await ask(status)).toBe(status)
  for (const status of [400, 401]) expect(await ask(status)).toBe(status)
  expect(await ask(400)).toBe(429)
})

const auth = authWorld({ timeLimits: { requestMs: 1_500 } })

const numbered = () => Promise.resolve().then(executionAsyncId)

/** While promise hooks are active, every promise has its own async id. */
async function hooksAreActive() {
  const [one, other] = [await numbered(), await numbered()]
  return one !== other
}

/** Since Node 24 AsyncLocalStorage works without promise hooks. */
const usesHooks = Number(process.versions.node.split('.')[0]) < 24

describe.runIf(usesHooks)('promises', () => {
  it('are not slower after requests to the authorization server, also one whose body stalls until its deadline', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await new Browser(auth.world.publicPort).send(
      'POST',
      new URL(`${issuer}/token`),
      form,
      'grant_type=none',
    )
    expect(answer.status).toBe(400)
    expect(await hooksAreActive()).toBe(false)

    const connection = await Connection.open(auth.world.publicPort)
    const { host, pathname } = new URL(`${issuer}/token`)
    const head = [`POST ${pathname} HTTP/1.1`, `Host: ${host}`, `Content-Type: ${form['content-type']}`]
    await connection.send([...head, 'Content-Length: 3', '', 'a='].join('\r\n'))
    expect((await connection.answer()).status).toBe(503)
    await connection.ended
    await expect.poll(hooksAreActive).toBe(false)

    const storage = new AsyncLocalStorage()
    storage.run({}, () => {})
    onTestFinished(() => storage.disable())
    expect(await hooksAreActive()).toBe(true)
  })
})

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { peekBody, rewriteForm } from '../../server/oauth/endpoints/token-body.ts'
import { Connection } from '../raw/socket.ts'

const LENGTH = 'Content-Length'
const CHUNKED = 'Transfer-Encoding: chunked'

/** Answers a request with what `read` makes of it. */
async function serve(read: (request: IncomingMessage) => Promise<string>) {
  const server = createServer((request, response) => {
    read(request).then(
      (text) => response.end(text),
      () => response.destroy(),
    )
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
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

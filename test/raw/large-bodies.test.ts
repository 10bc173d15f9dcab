import { describe, expect, it } from 'vitest'
import { times } from '../support/rounds.ts'
import { started } from '../support/started.ts'
import type { Refusal, Sent } from './raw-service.ts'
import { detail, error, expectError, notThisToken, startRawService } from './raw-service.ts'
import { Connection } from './socket.ts'

const service = started(startRawService)

const MB = 1024 * 1024
const QUOTA = 10 * MB
const target = '/v1/storage/col/k1'
const full = detail('App storage quota exceeded.')
const tooLarge = error('invalid_request', 'The body is larger than 1 MiB.')

/** A JSON string of `size` bytes. */
const textOf = (size: number) => `"${'x'.repeat(size - 2)}"`

type Framing = 'Content-Length' | 'chunked'
const framings: Framing[] = ['Content-Length', 'chunked']

/** Request head and body as sent. */
function framed(line: string, body: string, framing: Framing, sent: Sent = {}) {
  const length = framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${Buffer.byteLength(body)}`
  const head = service.request(line, {
    ...sent,
    headers: ['Content-Type: application/json', length, ...(sent.headers ?? [])],
  })
  if (framing === 'Content-Length') return { head, rest: Buffer.from(body) }
  const chunks = body.match(/.{1,65536}/gs) ?? []
  return {
    head,
    rest: Buffer.from(`${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`),
  }
}

/** Sends the whole body before it reads the answer, as most clients do. */
async function upload({ head, rest }: { head: Buffer; rest: Buffer }) {
  const connection = await Connection.open(service.world.publicPort)
  await connection.send(head)
  for (let at = 0; at < rest.length; at += 65_536) await connection.send(rest.subarray(at, at + 65_536))
  const answer = await connection.answer()
  await service.expectServing(connection, answer)
  return answer
}

describe.each(framings)('a body over the limit, sent with %s', (framing) => {
  const expectRefused = async (line: string, body: string, sent: Sent, status: number, refusal: Refusal) => {
    const before = await service.state()
    expectError(await upload(framed(line, body, framing, sent)), status, refusal)
    expect(await service.state()).toEqual(before)
  }

  it.each([QUOTA + 64 * 1024 + 1, 12 * MB, ...(times(1, 0) ? [30 * MB] : [])])(
    'gets 413 from storage: %i bytes',
    async (size) => {
      const body = `{"value":${textOf(size - 10)}}`
      await expectRefused(`PUT ${target}`, body, {}, 413, full)
    },
  )

  it.each([MB + 1, 5 * MB])('gets 400 from lms and notify: %i bytes', async (size) => {
    const body = `{"answers":{},"url":"https://a.b","x":${textOf(size - 39)}}`
    expect(body.length).toBe(size)
    const quiz = `POST /v1/quizzes/${encodeURIComponent(service.quizId)}/results`
    await expectRefused(quiz, body, { api: 'lms' }, 400, tooLarge)
    await expectRefused(`PUT /v1/apps/${service.world.ids.app}/webhook`, body, { api: 'notify' }, 400, tooLarge)
  })

  it('is one byte larger than an accepted one', async () => {
    const body = `{"url":"https://a.b","x":${textOf(MB - 26)}}`
    expect(body.length).toBe(MB)
    const webhook = `PUT /v1/apps/${service.world.ids.app}/webhook`
    expect((await upload(framed(webhook, body, framing, { api: 'notify' }))).status).toBe(200)
  })
})

describe('an unread body', () => {
  const body = `{"value":${textOf(times(5, 2) * MB)}}`
  const refusals = async (): Promise<[line: string, sent: Sent, status: number, refusal: Refusal][]> => {
    const { token, ids } = service.world
    const write = 'svc.apps.storage:write'
    return [
      [`PUT ${target}`, { token: 'x' }, 401, notThisToken],
      [`PUT ${target}`, { host: 'lms.test' }, 404, detail('This API answers at apps.test.')],
      [`POST ${target}`, {}, 405, detail('Use GET, HEAD, PUT, DELETE here.')],
      [
        `PUT ${target}`,
        { token: await token({ scope: '' }) },
        403,
        detail(`This token does not carry the ${write} scope.`),
      ],
      [`PUT ${target}`, { headers: ['Content-Encoding: gzip'] }, 415, detail('Send the body as application/json.')],
      [`GET ${target}`, {}, 404, detail('This key does not exist.')],
      [
        'PUT /v1/apps/%00/webhook',
        { api: 'notify', token: await token({ organisation: ids.provider, scope: '' }) },
        403,
        error('missing_scope', 'This token does not carry the ntf.apps.webhook:update scope.'),
      ],
    ]
  }

  it.each(framings)('is drained, so that the client receives the refusal: %s', async (framing) => {
    for (const [line, sent, status, refusal] of await refusals()) {
      expectError(await upload(framed(line, body, framing, sent)), status, refusal)
    }
  })

  it.each(framings)('is drained with Connection: close: %s', async (framing) => {
    for (const [line, sent, status, refusal] of await refusals()) {
      const headers = [...(sent.headers ?? []), 'Connection: close']
      const answer = await upload(framed(line, body, framing, { ...sent, headers }))
      expectError(answer, status, refusal)
      expect(answer.headers.connection).toBe('close')
    }
  })

  it('is answered before it is complete', async () => {
    for (const [line, sent, status, refusal] of await refusals()) {
      const { head, rest } = framed(line, body, 'Content-Length', sent)
      const connection = await Connection.open(service.world.publicPort)
      await connection.send(head)
      await connection.send(rest.subarray(0, 100_000))
      const answer = await connection.answer()
      expectError(answer, status, refusal)
      await connection.send(rest.subarray(100_000))
      await service.expectServing(connection, answer)
    }
  })
})

describe('a client that keeps sending after a refusal', () => {
  it('is disconnected when it sends without end', async () => {
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(service.request(`PUT ${target}`, { token: 'x', headers: ['Transfer-Encoding: chunked'] }))
    expectError(await connection.answer(), 401, notThisToken)
    const taken = await connection.sendUntilCut(Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`))
    // Above the 32 MB that are drained: socket buffers.
    expect(taken).toBeGreaterThan(31 * MB)
    expect(taken).toBeLessThan(64 * MB)
  })
})

describe('a client that disconnects inside its body', () => {
  const leave = async (how: 'end' | 'reset', sent: Sent, part: number) => {
    const body = `{"value":${textOf(MB)}}`
    const { head, rest } = framed(`PUT ${target}`, body, 'Content-Length', sent)
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(head)
    if (part > 0) await connection.send(rest.subarray(0, part))
    connection[how]()
    await connection.ended
  }

  it.each(['end', 'reset'] as const)('leaves nothing behind: %s', async (how) => {
    const before = await service.state()
    const logged = service.log.length
    const parts = [0, 1, 1000, 500_000]
    for (const part of parts) {
      await leave(how, { headers: [`X-Request-Id: left.${how}.${part}`] }, part)
    }
    await expect
      .poll(() => service.log.slice(logged).filter((line) => line.includes(`left.${how}`)).length)
      .toBe(parts.length)
    expect(await service.state()).toEqual(before)
    expect((await service.answerTo(service.request('GET /v1/'))).status).toBe(200)
  })

  it('is not waited for when it disconnects during the access check', async () => {
    const logged = service.log.length
    const { world } = service
    for (let i = 0; i < 20; i++) {
      world.advance(5)
      await leave('reset', { headers: [`X-Request-Id: looked-up.${i}`] }, i * 1000)
    }
    await expect.poll(() => service.log.slice(logged).filter((line) => line.includes('looked-up')).length).toBe(20)
  })
})

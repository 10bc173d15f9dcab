import { expect } from 'vitest'
import { statement, text } from '../../prisma/pg/statement.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import type { Answer } from './socket.ts'
import { Connection } from './socket.ts'

/** The body of an error without its request id. */
export type Refusal = { detail: string } | { error: { code: string; message: string } }

export const detail = (message: string) => ({ detail: message })
export const error = (code: string, message: string) => ({ error: { code, message } })

export const nothingHere = 'There is nothing at this address.'
export const nameInvalid = detail("Names use 1 to 64 letters, digits, '_' or '-'.")
export const scopeInvalid = detail('scope is org or user.')
export const bodyNotJson = 'The body is not valid JSON.'
export const notHttp = error('invalid_request', 'The request is not valid HTTP.')
export const notThisToken = error('invalid_token', 'This token is not valid.')

/** Rows for `it.each`, each with a title in front: the first 60 characters of its first column. */
export const titled = <const Row extends readonly unknown[]>(rows: readonly Row[]): [title: string, ...row: Row][] =>
  rows.map((row) => [JSON.stringify(String(row[0])).slice(0, 60), ...row])
export const titledTexts = (texts: readonly string[]) => titled(texts.map((text): [string] => [text]))

/** A request head of exactly these lines. */
export const lines = (...given: string[]) => [...given, '', ''].join('\r\n')

/** JSON of `depth` levels. */
export const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
export const nestedObjects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

export interface Sent {
  api?: Section
  /** Null: no Host header. */
  host?: string | null
  /** Null: no Authorization header. */
  token?: string | null
  /** Complete header lines. */
  headers?: string[]
  /** Strings are sent as UTF-8. */
  body?: string | Buffer
  /** Type of the body; null: no Content-Type. */
  type?: string | null
  version?: string
}

const changeable = statement(
  'suite_raw_state',
  `SELECT jsonb_build_object(
     'entries', (SELECT jsonb_agg(entry ORDER BY entry) FROM "StorageEntry" entry WHERE "clubId" = $club),
     'app', (SELECT to_jsonb(app) FROM "App" app WHERE id = $app),
     'results', (SELECT count(*) FROM "QuizResult" WHERE "quizId" = $quiz))::text AS state`,
  { club: text, app: text, quiz: text },
  { state: text },
)

export type RawService = Awaited<ReturnType<typeof startRawService>>

/** Starts a service with a tenant of its own, to which tests send bytes. */
export async function startRawService() {
  const log: string[] = []
  const world = await startWorld({ onLog: (line) => log.push(line) })
  const { ids } = world
  const quizId = await mintQuiz(world)
  const hosts = { apps: 'apps.test', lms: 'lms.test', notify: 'notify.test', sync: 'sync.test' }
  const tokens = {
    apps: await world.token(),
    lms: await world.token({ organisation: ids.academy }),
    notify: await world.token({ organisation: ids.provider }),
    sync: await world.token(),
  }

  const request = (line: string, { api = 'apps', headers = [], body, version = 'HTTP/1.1', ...sent }: Sent = {}) => {
    const { host = hosts[api], token = tokens[api], type = 'application/json' } = sent
    const lines = [`${line} ${version}`]
    if (host !== null) lines.push(`Host: ${host}`)
    if (token !== null) lines.push(`Authorization: Bearer ${token}`)
    const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body as string)
    const chunked = headers.some((header) => /^transfer-encoding:/i.test(header))
    if (body !== undefined && type !== null) lines.push(`Content-Type: ${type}`)
    if (body !== undefined && !chunked) lines.push(`Content-Length: ${bytes.length}`)
    return Buffer.concat([Buffer.from(`${[...lines, ...headers].join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
  }

  const good = request('GET /v1/me/profile')
  const goodCall = request('GET /trpc/me.profile', { host: 'localhost' })

  /** Everything that a request could change, as text; one statement, because each test asks twice. */
  const state = async () => {
    const [row] = await world.db.execute(changeable, { club: ids.club, app: ids.app, quiz: quizId })
    return row!.state
  }

  /** Expects the next request to succeed: on the same connection if it stays open, else on a new one. */
  const expectServing = async (connection: Connection, last: Answer, port = world.publicPort) => {
    const closes = last.headers.connection === 'close'
    if (closes) connection.end()
    if (closes) await connection.ended
    const next = closes ? await Connection.open(port) : connection
    await next.send(port === world.publicPort ? good : goodCall)
    expect((await next.answer()).status).toBe(200)
    expect(next.rest).toBe('')
    next.end()
    await next.ended
  }

  return {
    world,
    /** One line for each request. */
    log,
    quizId,
    tokens,
    request,
    state,
    expectServing,
    /** Sends the bytes, returns the answer and expects the service to keep serving. */
    async answerTo(bytes: string | Buffer, method = 'GET', port = world.publicPort) {
      const connection = await Connection.open(port)
      await connection.send(bytes)
      const answer = await connection.answer(method)
      await expectServing(connection, answer, port)
      return answer
    },
    /** Expects exactly this refusal and no change. */
    async expectRefused(bytes: string | Buffer, status: number, refusal: Refusal) {
      const before = await state()
      const answer = await this.answerTo(bytes)
      expectError(answer, status, refusal)
      expect(await state()).toEqual(before)
      return answer
    },
    /** Closes the service and expects no error in its log. */
    async close() {
      await world.close()
      expect(log.filter((line) => /"(?:err|reason|refused)":/.test(line))).toEqual([])
    },
  }
}

/** Expects the status, the exact body and the headers of every answer. */
export function expectError(answer: Answer, status: number, refusal: Refusal) {
  const { headers, text } = answer
  const requestId = headers['x-request-id']
  const body = 'detail' in refusal ? refusal : { error: { ...refusal.error, request_id: requestId } }
  expect({ status: answer.status, text }).toEqual({ status, text: JSON.stringify(body) })
  expectCommonHeaders(answer)
  const help = `/v1/docs/errors#${headers['x-error-code']}>; rel="help"`
  // Where the host is no API's, or the port the internal one, it leads to that of apps.
  expect([`<${help}`, `<http://apps.test${help}`]).toContain(headers.link)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
}

/** Expects the headers of every answer of the public port. */
export function expectCommonHeaders({ headers }: Answer) {
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(headers['access-control-expose-headers']).toContain('X-Request-Id')
}

/** Creates a released quiz with a space in its id. */
async function mintQuiz({ db, ids }: World) {
  const quizId = `${id('quiz')} 1`
  await db.quiz.create({
    data: { id: quizId, academyId: ids.academy, title: 'Quiz', threshold: 50, state: 'released' },
  })
  const options = ['Yes', 'No']
  await db.question.create({
    data: { quizId, id: 'q1', position: 0, type: 'single', text: '?', options, solution: ['Yes'] },
  })
  return quizId
}

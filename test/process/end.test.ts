import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { readConfig } from '../../server/process/config.ts'
import { GRACE_MS, startService } from '../../server/process/start.ts'
import { stoppedLine } from '../../server/process/stopped-line.ts'
import { developmentKey, mintToken } from '../../server/tokens/development.ts'
import { suiteLimits } from '../support/time-limits.ts'
import type { Service } from './service.ts'
import {
  asAnna,
  dataDirectoryWithDemo,
  externalSettings,
  findPostgres,
  launch,
  readStop,
  readToken,
  refuses,
  start,
  until,
} from './service.ts'

/** From SIGUSR2 on, what waits for the next turn of the event loop waits for ever. */
const HANGING = `--import=data:text/javascript,${encodeURIComponent(
  `process.on('SIGUSR2', () => { globalThis.setImmediate = () => {}; console.log('it hangs') })`,
)}`

describe('a service that is asked to stop', () => {
  it('on SIGTERM ends idle connections, finishes the request in flight and stops its database', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const service = await start({ DATA_DIR })
    expect(await findPostgres(DATA_DIR)).not.toBe(0)
    const [slow, idle] = [await halfSent(withToken(service), 'slow'), await idleConnection(service)]
    service.child.kill('SIGTERM')
    await until(() => refuses(service.port), Boolean)
    await until(() => refuses(service.internalPort), Boolean)
    await idle.text
    expect(service.child.exitCode).toBe(null)

    const answer = await slow.finish()
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(answer).toMatch(/\r\nConnection: close\r\n/i)
    expect(answer).toContain('{"key":"slow","value":"whole",')
    expect(await service.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(readStop(service.stdout())).toEqual(['SIGTERM: draining for 0 s', 'stopped, 0 requests cut'])
    expect(await findPostgres(DATA_DIR)).toBe(0)

    const later = await start({ DATA_DIR })
    expect((await asAnna(later, 'GET', '/storage/slow/slow')).body.value).toBe('whole')
    await later.stop()
  })

  it('cuts a request in flight that never ends after the grace period, and stops its database', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const config = readConfig({ PORT: '0', INTERNAL_PORT: '0', DATA_DIR })
    const graceMs = 1_000
    const lines: string[] = []
    const log = pino({}, { write: (line) => void lines.push(line) })
    const service = await startService(config, log, { timeLimits: suiteLimits, graceMs })
    const claims = { member: 'anna', organisation: 'riverside', client: 'trainer-app', expiresInSeconds: 600 }
    const token = await mintToken(await developmentKey(DATA_DIR), { ...claims, scope: memberScopes.join(' ') })
    const never = await halfSent({ port: service.publicPort, token }, 'never')
    const asked = performance.now()
    await service.close()
    expect(performance.now() - asked).toBeGreaterThanOrEqual(graceMs)
    expect(await never.text).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    expect(JSON.parse(lines.at(-1)!).msg).toBe('stopped, 1 request cut')
    expect(await findPostgres(DATA_DIR)).toBe(0)
  })

  it.each([
    [{ requests: 0, deliveries: 0 }, 'stopped, 0 requests cut'],
    [{ requests: 1, deliveries: 0 }, 'stopped, 1 request cut'],
    [{ requests: 12, deliveries: 2 }, 'stopped, 12 requests and 2 deliveries cut'],
    [{ deliveries: 1 }, 'stopped, 1 delivery cut'],
  ])('says what it has cut: %j', (cut, line) => {
    expect(stoppedLine(cut)).toBe(line)
  })

  it('names its drain, during which it serves', async () => {
    const env = { DATA_DIR: await dataDirectoryWithDemo(), DRAIN_SECONDS: '0.5', NODE_ENV: 'production' }
    const service = await start(env)
    service.child.kill('SIGTERM')
    await until(
      async () => readStop(service.stdout()),
      (said) => said.length > 0,
    )
    expect(await service.ended).toMatchObject({ code: 0, stderr: '' })
    expect(readStop(service.stdout())).toEqual(['SIGTERM: draining for 0.5 s', 'stopped, 0 requests cut'])
  })

  it('that hangs is ended, with a line on standard error', async () => {
    const env = { ...(await externalSettings()), NODE_OPTIONS: HANGING }
    const service = await start(env)
    service.child.kill('SIGUSR2')
    await until(
      async () => service.stdout(),
      (text) => text.includes('it hangs'),
    )
    const { code, stderr } = await service.stop()
    expect([code, stderr]).toEqual([1, 'The process did not stop within 9.5 s after the signal, and was ended.\n'])
  })

  it('gives requests in flight the grace period that the documents name', async () => {
    const running = await readFile(new URL('../../docs/running.md', import.meta.url), 'utf8')
    expect(running).toContain(`finishes requests in flight within ${GRACE_MS / 1_000} s,`)
  })

  it('stops once when the signal comes twice, as npm passes on the Ctrl-C of a terminal', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const service = await start({ DATA_DIR }, { group: true })
    const slow = await halfSent(withToken(service), 'slow')
    // To the whole group, of which the embedded server must not be one.
    process.kill(-service.child.pid!, 'SIGINT')
    await until(() => refuses(service.port), Boolean)
    service.child.kill('SIGINT')
    service.child.kill('SIGTERM')
    expect(await slow.finish()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(await service.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await findPostgres(DATA_DIR)).toBe(0)
    expect(readStop(service.stdout())).toEqual(['SIGINT: draining for 0 s', 'stopped, 0 requests cut'])
  })

  it('leaves no database server behind when it is still starting', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    await (await start({ DATA_DIR })).stop()
    const service = await launch({ DATA_DIR })
    await expect.poll(() => findPostgres(DATA_DIR)).not.toBe(0)
    expect(await service.stop()).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await findPostgres(DATA_DIR)).toBe(0)
  })
})

const withToken = (service: Service) => ({ port: service.port, token: readToken(service) })

/** A PUT of which the service has the head and half of the body. */
async function halfSent({ port, token }: { port: number; token: string }, key: string) {
  const body = '{"value":"whole"}'
  const socket = connect(port, '127.0.0.1')
  const text = everything(socket)
  socket.write(
    [
      `PUT /v1/storage/slow/${key} HTTP/1.1`,
      'Host: apps.localhost',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      // Answered when the request is in the app's hands, so that there is nothing to wait for blindly.
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  )
  await until(
    async () => text.soFar(),
    (received) => received.startsWith('HTTP/1.1 100 Continue\r\n'),
  )
  socket.write(body.slice(0, 8))
  return {
    text: text.whole,
    async finish() {
      socket.write(body.slice(8))
      return (await text.whole).replace('HTTP/1.1 100 Continue\r\n\r\n', '')
    },
  }
}

/** A connection that has had an answer and is kept. */
async function idleConnection({ port }: Service) {
  const socket = connect(port, '127.0.0.1')
  const text = everything(socket)
  socket.write('GET /v1/nothing HTTP/1.1\r\nHost: apps.localhost\r\n\r\n')
  await expect.poll(() => text.soFar()).toContain('There is nothing at this address.')
  return { text: text.whole }
}

function everything(socket: Socket) {
  let received = ''
  socket.setEncoding('utf8').on('data', (chunk) => (received += chunk))
  socket.on('error', () => {})
  const whole = new Promise<string>((resolve) => socket.on('close', () => resolve(received)))
  return { soFar: () => received, whole }
}

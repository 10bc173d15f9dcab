import { writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { beforeAll, expect, it } from 'vitest'
import { Browser } from '../../oauth/browser.ts'
import type { Service } from '../../process/service.ts'
import { dataDirectory, start } from '../../process/service.ts'
import { request } from '../../storage/client.ts'
import { endingAfterAll } from '../at-end.ts'
import { demoToken } from '../demo.ts'
import { holdFigure } from '../held-figure.ts'
import { peakMb } from '../memory/process-figures.ts'
import { slowestBeside } from './beside.ts'

const CLIENTS = 2_000
/** Shorter than the 6 s of a request: all are there at once. */
const WITHIN_MS = 3_000
const MAX_MB = 512
const MAX_MS = 250

const auth = 'auth.test'
const issuer = `http://${auth}/v1/oauth`

let service: Service
let token: string
let learnerToken: string
let cookie: string
const atEnd = endingAfterAll()
beforeAll(async () => {
  const DATA_DIR = await dataDirectory(atEnd)
  service = await start({ DATA_DIR, AUTH_BASE_URL: `http://${auth}/v1`, LOG_LEVEL: 'error' }, { atEnd })
  const browser = new Browser(service.port)
  const portal = await browser.submit(await browser.open(`${issuer}/developers`), 'pick', { member: 'anna' })
  expect(portal.status).toBe(200)
  cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  token = await demoToken(DATA_DIR, { client: 'trainer-app', scope: 'svc.me.profile:read' })
  learnerToken = await demoToken(DATA_DIR, {
    client: 'trainer-app',
    organisation: 'academy',
    scope: 'lms.me.quizzes:write',
  })
})

const at = (host: string, path: string, ...fields: string[]) =>
  `POST /v1${path} HTTP/1.1\r\nHost: ${host}\r\n${fields.map((field) => `${field}\r\n`).join('')}`
const form = 'Content-Type: application/x-www-form-urlencoded'
const json = 'Content-Type: application/json'
const ownPage = `Origin: http://${auth}`
const app = '/oauth/developers/teams/builders/apps/trainer-app'

it.each<[string, number, () => string]>([
  ['a form before the sign-in', 8_000, () => at(auth, '/oauth/connected/pick', form, ownPage)],
  ['a form of the portal', 8_000, () => at(auth, `${app}/settings/details`, form, ownPage, `Cookie: ${cookie}`)],
  ['the token endpoint', 56_000, () => at(auth, '/oauth/token', form)],
  ['the revocation endpoint', 56_000, () => at(auth, '/oauth/revoke', form)],
  [
    'a quiz',
    1_000_000,
    () => at('lms.localhost', '/quizzes/choice-quiz/results', json, `Authorization: Bearer ${learnerToken}`),
  ],
  [
    'a logo',
    158 * 1024,
    () =>
      at(auth, `${app}/settings/logo`, 'Content-Type: multipart/form-data; boundary=b', ownPage, `Cookie: ${cookie}`),
  ],
])('2,000 bodies that stall at %s take at most 512 MB, and slow no neighbour', async (name, bytes, makeHead) => {
  const { pid } = service.child
  // Peaks are counted from here.
  await writeFile(`/proc/${pid}/clear_refs`, '5')
  const agent = new Agent({ keepAlive: true })
  const slowest = await slowestBeside(
    { port: service.port, clients: CLIENTS, withinMs: WITHIN_MS, head: makeHead(), stalledBytes: bytes },
    pid!,
    async () => (await request(service.port, 'GET', '/me/profile', token, { agent }))!,
  )
  agent.destroy()
  const mb = await peakMb(pid!)
  holdFigure(`memory of 2,000 bodies that stall at ${name}`, mb, 'MB', MAX_MB)
  holdFigure(`a neighbour of 2,000 bodies that stall at ${name}`, slowest, 'ms', MAX_MS)
})

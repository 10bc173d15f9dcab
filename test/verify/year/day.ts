import { randomUUID } from 'node:crypto'
import type { Answer } from '../../process/service.ts'
import { send } from '../../process/service.ts'
import { signInByMail } from '../soak/sign-in.ts'
import { delivered } from './delivered.ts'
import { importNight, keepHouse } from './night.ts'
import { APPS, CLUBS, FAILING, RECEIVERS } from './platform.ts'
import type { Session, YearWorld } from './world.ts'

/** When the platform's import runs, and when members come; seconds of a day. */
const NIGHT = 2 * 3_600
const ROUNDS = [8, 13, 19].map((hour) => hour * 3_600)

const [SIGN_INS, RETURNS, REQUESTS, EVENTS, ERASURES] = [4, 16, 6, 20, 2] as const
/** Members who have signed in and come back now and then; the others stay away. */
const COMING = 150

/** A night and a day. Its work is the same each day. */
export async function playDay(world: YearWorld, day: number) {
  const { clock, sessions } = world
  await delivered(world)
  // Not the time after the jump: a task that a process has finished meanwhile is due an hour later.
  const from = await clock.advanceTo(NIGHT)
  await importNight(world, day)
  await keepHouse(world, from)
  // One of a day, which the worker attempts until late the next day.
  for (let app = 0; app < FAILING; app++) await publishTo(world, app)
  for (const at of ROUNDS) {
    await clock.advanceTo(at)
    await world.wake()
    await Promise.all([signIns(world), returns(world), publish(world), mistakes(world)])
    await delivered(world)
  }
  await erase(world)
  sessions.splice(0, sessions.length - COMING)
}

async function signIns(world: YearWorld) {
  for (let i = 0; i < SIGN_INS; i++) {
    // Nobody twice: one who has a session is not asked for a code, nor for a consent again.
    const n = world.signIns++
    const [member, client, organisation] = [
      `person-${n}`,
      `client-${FAILING + ((n * 7) % (APPS - FAILING))}`,
      `club-${n % CLUBS}`,
    ]
    const journey = { n, email: `${member}@example.org`, client, organisation }
    const { tokens } = await signInByMail(world, journey)
    const session = { member, client, refreshToken: tokens.refresh_token }
    world.sessions.push(session)
    await use(world, session, tokens.access_token)
  }
}

/** Members who have signed in on earlier days. */
async function returns(world: YearWorld) {
  const { sessions, draw, publicPort } = world
  for (let i = 0; i < Math.min(RETURNS, sessions.length); i++) {
    const session = sessions[draw(sessions.length)]!
    const fields = { grant_type: 'refresh_token', client_id: session.client, refresh_token: session.refreshToken }
    const headers = { host: `auth.localhost:${publicPort}`, 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await send(publicPort, 'POST', '/v1/oauth/token', {
      headers,
      form: new URLSearchParams(fields).toString(),
    })
    expectStatus(reply, 200, 'refresh')
    session.refreshToken = reply.body.refresh_token
    await use(world, session, reply.body.access_token)
  }
}

/** An app's requests for its member. */
async function use({ publicPort, draw }: YearWorld, { client }: Session, token: string) {
  const call = async (method: string, path: string, right: number[], body?: unknown) => {
    const headers = { host: 'apps.localhost', authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() }
    const reply = await send(publicPort, method, `/v1${path}`, { headers, body })
    if (!right.includes(reply.status)) throw new Error(`${client} ${method} ${path}: ${reply.status} ${reply.text}`)
  }
  const entry = () => `/storage/c${draw(3)}/k${draw(200)}${draw(2) ? '?scope=user' : ''}`
  await call('GET', '/me/profile', [200])
  await call('GET', '/me/events', [200])
  for (let i = 0; i < REQUESTS; i++) {
    const address = entry()
    await call('PUT', address, [200], { value: { n: draw(1_000), note: 'x'.repeat(draw(400)) } })
    await call('GET', address, [200])
    if (i % 3 === 0) await call('DELETE', entry(), [204, 404])
  }
  await call('GET', '/storage/c0', [200])
  await call('PUT', '/storage/c0/none', [400, 422], {})
}

/** Sign-ins that fail. */
async function mistakes({ publicPort, draw }: YearWorld) {
  const fields = { grant_type: 'refresh_token', refresh_token: randomUUID() }
  const headers = { host: `auth.localhost:${publicPort}`, 'content-type': 'application/x-www-form-urlencoded' }
  for (let i = 0; i < 3; i++) {
    const form = new URLSearchParams({ ...fields, client_id: `client-${draw(APPS)}` }).toString()
    expectStatus(await send(publicPort, 'POST', '/v1/oauth/token', { headers, form }), 400, 'a wrong refresh')
  }
}

async function publish(world: YearWorld) {
  for (let i = 0; i < EVENTS; i++) await publishTo(world, FAILING + world.draw(RECEIVERS - FAILING))
}

/** One event of an app. */
export async function publishTo(world: YearWorld, app: number) {
  const data = { note: 'x'.repeat(world.draw(500)) }
  await trpc(world, 'events.publish', { app: `app-${app}`, type: 'training.moved', data, id: randomUUID() })
}

async function erase(world: YearWorld) {
  for (const { member } of world.sessions.splice(0, world.sessions.length > 40 ? ERASURES : 0)) {
    await trpc(world, 'directory.people.erase', { id: member })
    world.records.people.delete(Number(member.slice('person-'.length)))
  }
}

async function trpc({ internalPort, platformToken }: YearWorld, name: string, body: unknown) {
  const headers = { authorization: `Bearer ${platformToken}` }
  expectStatus(await send(internalPort, 'POST', `/trpc/${name}`, { headers, body }), 200, name)
}

function expectStatus({ status, text }: Answer, right: number, what: string) {
  if (status !== right) throw new Error(`${what}: ${status} ${text}`)
}

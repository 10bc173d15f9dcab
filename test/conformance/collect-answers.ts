import { setImmediate } from 'node:timers/promises'
import { vi } from 'vitest'
import { findProcedure } from '../../rest-facade/document.ts'
import { documents } from '../../rest-facade/openapi.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import type { Answer } from '../raw/socket.ts'
import { Connection } from '../raw/socket.ts'
import type { AtEnd } from '../support/databases.ts'
import { expectDocumented } from '../support/documented.ts'
import type { Reply } from '../support/request.ts'
import { putAddress } from '../support/tenant.ts'
import type { Tenant } from './answers-tenant.ts'
import { startFailing, startImpatient, startTenant } from './answers-tenant.ts'
import type { Place } from './provoke-answers.ts'
import { ask, fillAddress, isOfApp, provoke } from './provoke-answers.ts'

/** Every operation of the documents. */
export const places: Place[] = sectionNames.flatMap((section) =>
  Object.entries(documents()[section].paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      section,
      path,
      method: method.toUpperCase(),
      operation,
      tokens: findProcedure(operation).meta.policy.requires.section,
    })),
  ),
)
export const formatName = ({ method, path }: Place) => `${method} ${path}`

/** The rows of the catalogue that an operation's document names. */
export const listRows = ({ operation }: Place) =>
  Object.entries(operation.responses)
    .filter(([status]) => status >= '400')
    .flatMap(([, { content }]) => Object.keys(content?.['application/json'].examples ?? {}))

type Keep = (place: Place, ...replies: Reply[]) => void

/** The answers of each operation, by its name: each is as documented, or this throws. */
export async function collectAnswers(atEnd: AtEnd): Promise<Map<string, Reply[]>> {
  const answers = new Map<string, Reply[]>(places.map((place) => [formatName(place), []]))
  const keep: Keep = (place, ...replies) => answers.get(formatName(place))!.push(...replies)
  const tenant = await startTenant(atEnd)
  for (const place of places) {
    if (place.path.endsWith('{key}')) await tenant.world.call('PUT', '/storage/c/k', { body: { value: 1 } })
    if (place.path.endsWith('{addressId}')) await putAddress(tenant.world.core, tenant.world.ids.app)
    const success = await ask(place, tenant)
    if (place.path.endsWith('{addressId}')) await putAddress(tenant.world.core, tenant.world.ids.app)
    keep(place, success)
    if (place.method === 'GET') {
      keep(place, await ask(place, tenant, { headers: { 'if-none-match': success.headers.etag ?? '*' } }))
    }
    await Promise.all(
      listRows(place).map(async (row) => provoke[row] && keep(place, await provoke[row](place, tenant))),
    )
  }
  await refusedByParser(tenant, await startImpatient(atEnd), keep)
  await tooSlow(tenant, keep)
  await expiredWhileWaiting(tenant, keep)
  await deletedMeanwhile(tenant, keep)
  await failing(tenant, await startFailing(atEnd), keep)
  return answers
}

/** Bytes on a socket, whose answer is compared here. */
async function exchanged(place: Place, tenant: Tenant, answer: Promise<Answer>): Promise<Reply> {
  const { status, headers, text } = await answer
  const reply = { status, headers, text, body: JSON.parse(text) }
  expectDocumented(place.method, fillAddress(place, tenant), reply, 'the service')
  return reply
}

async function sent(port: number, bytes: string) {
  const connection = await Connection.open(port)
  await connection.send(bytes)
  return connection.answer().finally(() => connection.end())
}

async function refusedByParser(tenant: Tenant, impatient: number, keep: Keep) {
  const { publicPort } = tenant.world
  await Promise.all(
    places.map(async (place) => {
      const line = `${place.method} /v1${fillAddress(place, tenant)} HTTP/1.1`
      const head = `${line}\r\nHost: ${place.section}.test`
      for (const wrong of ['No colon', `Host: ${place.section}.test`, 'Expect: more', `X: ${'x'.repeat(20_480)}`]) {
        keep(place, await exchanged(place, tenant, sent(publicPort, `${head}\r\n${wrong}\r\n\r\n`)))
      }
      keep(place, await exchanged(place, tenant, sent(impatient, head)))
    }),
  )
}

/** Counted for the quota; on a busy machine the token may expire before, and is not. */
async function expiredWhileWaiting(tenant: Tenant, keep: Keep) {
  for (const place of places.filter((one) => listRows(one).includes('waitsLimited'))) {
    const { cursor } = (await ask(place, tenant)).body
    const expired = () =>
      ask(place, tenant, { query: `?wait=50&since=${cursor}`, claims: { exp: tenant.world.now() + 2 } })
    let reply = await expired()
    while (reply.headers.ratelimit === undefined) reply = await expired()
    keep(place, reply)
  }
}

/** A body that stops coming: 10 s of a clock that runs ahead, once there is memory for it. */
async function tooSlow(tenant: Tenant, keep: Keep) {
  const { world } = tenant
  const organisation = {
    apps: world.ids.club,
    lms: world.ids.academy,
    notify: world.ids.provider,
  }
  const begun = `{"value":"${'x'.repeat(20_000)}`
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  try {
    for (const place of places.filter(({ operation }) => operation.requestBody)) {
      const token = await world.token({
        organisation: organisation[place.tokens],
        ...(isOfApp(place) && tenant.server),
      })
      const lines = [
        `${place.method} /v1${fillAddress(place, tenant)} HTTP/1.1`,
        `Host: ${place.section}.test`,
        `Authorization: Bearer ${token}`,
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        `\r\n${begun.length.toString(16)}`,
        begun,
      ]
      const free = world.memory.freeBytes
      let waits = true
      const answer = sent(world.publicPort, `${lines.join('\r\n')}\r\n`).finally(() => {
        waits = false
      })
      while (waits) {
        await setImmediate()
        if (world.memory.freeBytes < free) vi.advanceTimersByTime(500)
      }
      keep(place, await exchanged(place, tenant, answer))
    }
  } finally {
    // Lets the timers that requests share end: a faked one that other files find here would never fire.
    vi.advanceTimersByTime(1_000)
    vi.useRealTimers()
  }
}

/** The app and the client of a token go while what is known of it is still believed. */
async function deletedMeanwhile(tenant: Tenant, keep: Keep) {
  const { world, doomed, doomedApp } = tenant
  const inserting = places.filter(({ operation }) =>
    ['storagePut', 'storageBatch', 'storageRulesPut', 'quizzesSubmit'].includes(operation.operationId),
  )
  const call = (place: Place) =>
    ask(place, tenant, { claims: { client_id: doomed }, headers: { 'idempotency-key': crypto.randomUUID() } })
  await Promise.all(inserting.map(call))
  world.advance(-600)
  await world.db.client.delete({ where: { id: doomed } })
  await world.db.app.delete({ where: { id: doomedApp } })
  for (const place of inserting) keep(place, await call(place))
}

async function failing(tenant: Tenant, service: Awaited<ReturnType<typeof startFailing>>, keep: Keep) {
  const { world, claims, ofApp, loseTables, loseDatabase } = service
  const fail = async (place: Place) => {
    // Nothing but what is known of a token can fail for the root: another client's is not known yet.
    const client = place.path === '/' ? 'unknown' : undefined
    const known = { ...claims(place.tokens, client), ...(isOfApp(place) && ofApp) }
    keep(place, await ask(place, { ...tenant, world }, { claims: known }))
  }
  await loseTables()
  await Promise.all(places.map(fail))
  await loseDatabase()
  await Promise.all(places.map(fail))
}

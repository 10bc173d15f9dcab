import { afterAll, describe, expect, it } from 'vitest'
import { productionLimits } from '../../prisma/time-limits.ts'
import { routes } from '../../rest-facade/routes.ts'
import { query } from '../support/databases.ts'
import type { Fault } from '../support/fault-proxy.ts'
import { pgClient } from '../support/pg-client.ts'
import type { Faulted } from './faulted.ts'
import { expectUnavailable, expectUnavailableTrpc, startFaulted } from './faulted.ts'
import { names, overRest, overTrpc } from './operations.ts'
import { createPassCertificate } from './pass-certificate.ts'
import { until } from './service.ts'

/** Anna's access is cached, so the endpoint's own statement fails; Ben's has to be looked up. */
const [remembered, unknown] = ['anna', 'ben']

/** Without it, there are no passes. */
const ends: (() => Promise<void>)[] = []
const { env: settings } = createPassCertificate((end) => ends.push(end))
afterAll(async () => {
  for (const end of ends) await end()
})

/** As in production, so that connections that hang on a silent database end before the test does. */
const { stalledMs } = productionLimits

describe('a database that does not answer', () => {
  it('is tried with every endpoint', () => {
    expect(names.toSorted()).toEqual(routes.map(({ name }) => name).toSorted())
  })

  it.each<[Fault, string, boolean]>([
    ['refuse', 'TCP', false],
    ['refuse', 'a Unix socket', true],
    ['reset', 'TCP', false],
    ['blackhole', 'TCP', false],
  ])('(%s, over %s) makes every endpoint return 503 until it is back', async (fault, _, isLocal) => {
    const service = await startFaulted({ settings, timeLimits: { stalledMs }, isLocal })
    await allWell(service)
    service.stopClock()
    await overRest(service, 'root', remembered)
    await service.proxy.begin(fault)

    // An answer is kept for 500 ms.
    const readiness = until(
      () => service.ready(),
      ({ status }) => status === 503,
    )
    const authorizing = [service.authorize(), service.token()]
    const answers = await Promise.all(
      names.flatMap((name) => [
        overRest(service, name, remembered).then((answer) => ({ name, of: 'REST, remembered', answer })),
        overRest(service, name, unknown).then((answer) => ({ name, of: 'REST', answer })),
        overTrpc(service, name, remembered).then((answer) => ({ name, of: 'tRPC, remembered', answer })),
        overTrpc(service, name, unknown).then((answer) => ({ name, of: 'tRPC', answer })),
      ]),
    )
    for (const { name, of, answer } of answers) {
      const request = `${name} (${of})`
      if (name === 'root' && of.endsWith('remembered')) expect([request, answer.status]).toEqual([request, 200])
      else if (of.startsWith('REST')) expectUnavailable(request, answer)
      else expectUnavailableTrpc(request, answer)
    }
    expectUnavailable('readyz', await readiness)
    expect((await service.ready('?exclude=database')).status).toBe(200)
    const [page, grant] = await Promise.all(authorizing)
    expect(page).toMatchObject({ status: 503, headers: { 'content-type': expect.stringMatching(/^text\/html/) } })
    expect(grant).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } })
    for (const { headers } of [page!, grant!]) expect(headers['retry-after']).toBe('2')
    expect((await service.alive()).status).toBe(200)
    const ofRequests = service.log().filter(({ status }) => status === 503)
    expect(ofRequests.length).toBeGreaterThan(names.length)
    for (const line of ofRequests) expect([line.path, line.err]).toEqual([line.path, undefined])
    expect(JSON.stringify(ofRequests)).not.toContain('    at ')
    const said = () => service.log().flatMap(({ msg }) => (/^the database /.test(msg) ? [msg] : []))
    expect(said()).toEqual(['the database cannot be reached'])

    await service.proxy.end()
    await expect.poll(() => service.ready()).toMatchObject({ status: 200 })
    await allWell(service)
    expect(said()).toEqual(['the database cannot be reached', 'the database is back'])
  })

  it('(locked rows) makes writers return 503 at the deadline of their request', async () => {
    const service = await startFaulted({ settings, timeLimits: { requestMs: 1_000 } })
    await overRest(service, 'storage.put', remembered)
    const holder = pgClient(service.databaseUrl)
    await holder.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM "StorageUsage" FOR UPDATE')
    // Two wait in the database, the others for their turn.
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => (i % 2 ? overRest : overTrpc)(service, 'storage.put', remembered)),
    )
    for (const [i, answer] of answers.entries()) {
      const expectRefused = i % 2 ? expectUnavailable : expectUnavailableTrpc
      expectRefused(`writer ${i}`, answer)
    }
    expect((await service.ready()).status).toBe(200)
    await holder.end()
    await expect.poll(() => overRest(service, 'storage.put', remembered)).toMatchObject({ status: 200 })
  })

  it('(lock_timeout, transaction_timeout, serialisation failure, deadlock) makes writers return 503', async () => {
    const service = await startFaulted({ settings })
    const refuseWith = (code: string) =>
      query(
        service.databaseUrl,
        `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END $$`,
      )
    await refuseWith('P0001')
    // Prisma writes the second.
    for (const table of ['StorageEntry', 'Subscription'])
      await query(
        service.databaseUrl,
        `CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON "${table}" EXECUTE FUNCTION refuse()`,
      )
    for (const code of ['55P03', '25P04', '40001', '40P01']) {
      await refuseWith(code)
      for (const name of ['storage.put', 'addresses.create']) {
        expectUnavailable(`${name}, ${code}`, await overRest(service, name, remembered))
        expectUnavailableTrpc(`${name}, ${code}`, await overTrpc(service, name, remembered))
      }
    }
  })

  it('(blackhole) does not delay the shutdown', async () => {
    const service = await startFaulted({ settings, timeLimits: { stalledMs } })
    await allWell(service)
    await service.proxy.begin('blackhole')
    const stuck = overRest(service, 'me.profile', remembered).catch(() => {})
    await service.close()
    await stuck
  })

  it('is logged with the first request that it refuses, without a stack and without the sent values', async () => {
    const service = await startFaulted({ settings })
    await allWell(service)
    await service.proxy.begin('refuse')
    const canary = 'canary4711'
    const path = '/storage/notes/entry'
    const looked = await service.rest({ section: 'apps', tokens: 'apps' }, 'ben', 'GET', '/me/profile')
    const stored = await service.rest({ section: 'apps', tokens: 'apps' }, 'anna', 'PUT', path, { value: canary })
    const submitted = await service.rest(
      { section: 'lms', tokens: 'lms' },
      'anna',
      'POST',
      '/quizzes/open-quiz/results',
      {
        answers: { q2: canary },
      },
    )
    const webhook = { url: `https://example.org/${canary}`, secret: canary }
    const set = await service.rest(
      { section: 'notify', tokens: 'notify' },
      'anna',
      'PUT',
      '/apps/trainer-app/webhook',
      webhook,
    )
    const lines = service.log().filter(({ status }) => status === 503)
    const answers = [looked, stored, submitted, set]
    expect(lines.map(({ requestId }) => requestId)).toEqual(answers.map(({ headers }) => headers['x-request-id']))
    const [first, ...others] = lines
    expect(first).toMatchObject({ level: 50, method: 'GET', path: '/v1/me/profile', client: 'trainer-app' })
    expect(first.reason).toMatch(/^(?:Can't reach database server|connect ECONNREFUSED).*$/)
    for (const line of others) expect([line.level, line.reason]).toEqual([30, undefined])
    expect(await overTrpc(service, 'me.profile', unknown)).toMatchObject({ status: 503 })
    // The internal port counts by itself.
    expect(service.log().at(-1)).toMatchObject({ level: 50, status: 503, reason: first.reason })
    const batch = await service.trpc('apps', 'ben', 'me.profile,nothing?batch=1', undefined, false)
    expect([batch.status, service.log().at(-1).status]).toEqual([207, 207])
    expect(service.log().filter((line) => line.status && line.err)).toEqual([])
    expect(JSON.stringify(service.log())).not.toContain(canary)
  })
})

/** Every endpoint works, over both ports, in an order in which each finds what it needs. */
async function allWell(service: Faulted) {
  for (const call of [overRest, overTrpc]) {
    for (const name of names) {
      if (name.startsWith('addresses.')) await service.putAddress()
      const { status, text } = await call(service, name, remembered)
      // A refusal's cause is in the log alone.
      const why = () => JSON.stringify(service.log().slice(-3))
      if (![200, 201, 204].includes(status)) expect.fail(`${name}: ${status} ${text} ${why()}`)
    }
  }
}

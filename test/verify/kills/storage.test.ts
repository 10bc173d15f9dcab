import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Service } from '../../process/service.ts'
import { asAnna, dataDirectoryWithCluster, findPostgres, start, until } from '../../process/service.ts'
import { chance, seed } from '../../support/chance.ts'
import { pgClient } from '../../support/pg-client.ts'
import { times } from '../../support/rounds.ts'
import type { Usage } from '../../support/storage-usage.ts'
import { counterAndSum } from '../../support/storage-usage.ts'
import { endingAfterAll } from '../at-end.ts'

const atEnd = endingAfterAll()

/** One directory for all rounds, so that damage would accumulate. */
let DATA_DIR: string
beforeAll(async () => {
  DATA_DIR = await dataDirectoryWithCluster(atEnd)
})

/** The services' connections to the embedded server. */
const connections = `SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'member-apps-api'`

const ofKills = chance('kills')

/** The possible values of each entry as JSON, undefined if absent: one after an answer, two after a kill. */
type Ledger = Map<string, (string | undefined)[]>

describe(`acknowledged writes survive kill -9 (seed ${seed})`, () => {
  it('of the service', async () => {
    const rounds = times(8, 1)
    await survive('alone', rounds, async (service) => {
      const server = await findPostgres(DATA_DIR)
      service.child.kill('SIGKILL')
      await service.ended
      // PostgreSQL finishes the statements that it has received.
      await until(
        () => ask<{ count: number }>(connections),
        ({ count }) => count === 0,
      )
      expect(await findPostgres(DATA_DIR)).toBe(server)
    })
  })

  it('of the service and its database at once', async () => {
    const rounds = times(8, 1)
    await survive('together', rounds, async (service) => {
      const server = await findPostgres(DATA_DIR)
      const kills = [() => service.child.kill('SIGKILL'), () => process.kill(server, 'SIGKILL')]
      for (const kill of ofKills(2) ? kills : kills.toReversed()) kill()
      await service.ended
      await expect.poll(() => findPostgres(DATA_DIR)).toBe(0)
    })
  })
})

/** Kills during writes, restarts and compares, round after round. */
async function survive(name: string, rounds: number, kill: (service: Service) => Promise<void>) {
  const ledger: Ledger = new Map()
  let service = await start({ DATA_DIR })
  for (let round = 0; round < rounds; round++) {
    let acknowledged = 0
    const count = () => acknowledged++
    const writers = Array.from({ length: 6 }, (_, writer) => write(service, `${name}${writer}`, round, ledger, count))
    await expect.poll(() => acknowledged).toBeGreaterThan(0)
    await pause(ofKills(300))
    await kill(service)
    await Promise.all(writers)

    service = await start({ DATA_DIR })
    expect(service.stderr(), `round ${round}`).toBe('')
    await compare(service, name, ledger, `round ${round}`)
  }
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
}

/** Writes its own entries until the service is gone. */
async function write(
  service: Service,
  writer: string,
  round: number,
  ledger: Ledger,
  acknowledge: () => void,
): Promise<void> {
  const draw = chance(`${writer} in round ${round}`)
  for (;;) {
    const key = `${writer}-${draw(4)}`
    const path = `/storage/${key.replace(/\d.*/, '')}/${key}${scopeQuery(key)}`
    const before = ledger.get(key) ?? [undefined]
    const deletes = draw(4) === 0
    const value = deletes ? undefined : randomBytes(draw(10) ? draw(500) : draw(60_000)).toString('hex')
    ledger.set(key, [...before, value])
    const answer = await asAnna(service, deletes ? 'DELETE' : 'PUT', path, deletes ? undefined : { value }).catch(
      () => undefined,
    )
    // 503: the database went down before the service, so the outcome of the write is unknown.
    if (answer === undefined || answer.status === 503) return
    expect(answer.status, key).toBe(deletes ? (before[0] === undefined ? 404 : 204) : 200)
    ledger.set(key, [value])
    acknowledge()
  }
}

const scopeQuery = (key: string) => (/[02468]$/.test(key) ? '?scope=user' : '')

/** Expects the last acknowledged or a pending value for each entry, and keeps the one it finds. */
async function compare(service: Service, collection: string, ledger: Ledger, what: string) {
  const lists = await Promise.all(
    ['org', 'user'].map((scope) => asAnna(service, 'GET', `/storage/${collection}?limit=200&scope=${scope}`)),
  )
  const items: { key: string; value: string }[] = lists.flatMap(({ body }) => body.items)
  const found = new Map(items.map(({ key, value }) => [key, value]))
  expect(
    [...found.keys()].filter((key) => !ledger.has(key)),
    what,
  ).toEqual([])
  for (const [key, possible] of ledger) {
    const value = found.get(key)
    if (!possible.includes(value))
      expect.fail(`${what}: ${key} is ${cut(value)}, not ${possible.map(cut).join(' or ')}`)
    ledger.set(key, [value])
  }
  const { counted, stored } = await ask<Usage>(counterAndSum, ['trainer-app', 'riverside'])
  expect(counted, what).toBe(stored)
}

/** Shortens a value for messages. */
const cut = (value: string | undefined) => value && `${value.slice(0, 20)}… of ${value.length}`

/** Reads one row from the embedded database without the service. */
async function ask<Row extends pg.QueryResultRow>(sql: string, values: string[] = []): Promise<Row> {
  const [password, port] = await Promise.all(
    ['password', 'port'].map((name) => readFile(join(DATA_DIR, 'postgres', name), 'utf8')),
  )
  const client = pgClient(`postgresql://postgres:${password}@127.0.0.1:${port}/member_apps`)
  await client.connect()
  const { rows } = await client.query<Row>(sql, values).finally(() => client.end())
  return rows[0]!
}
